"""Plants a fault and certifies the small plugin."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.testing.planted.faults import Fault
from tests.testing.planted.site import build

ROOT = Path(__file__).resolve().parents[3]

#: The place of the fault must be among as many places of the report.
_PLACES = 5


def start(
    folder: Path, subject: str, *options: str, code: str = "", **variables: str
) -> subprocess.Popen[str]:
    """Starts ``chainer certify`` where the small plugin is installed.

    Args:
        folder: An empty folder.
        subject: What is certified.
        options: Further arguments.
        code: Program of a fault.
        variables: Further environment variables.
    """
    site = build(folder / "site", code)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CHAINER_", "PYTEST"))}
    environment["PYTHONPATH"] = os.pathsep.join([str(site), str(ROOT)])
    command = [sys.executable, "-m", "chainer.plugins.cli", "certify", subject, "--processes", "1"]
    return subprocess.Popen(
        [*command, "--output", str(folder / "certificate"), *options],
        cwd=folder,
        env={**environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def certify(
    folder: Path, subject: str, *options: str, code: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs ``chainer certify`` to its end, with the arguments of :func:`start`."""
    process = start(folder, subject, *options, code=code)
    output, errors = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def report_of(fault: Fault, folder: Path, *options: str) -> dict:
    """Returns the report about the plugin with a fault.

    Args:
        fault: The fault.
        folder: An empty folder.
        options: Further arguments.
    """
    chosen = ["--only", fault.near, "--seconds-per-test", "60", *options]
    done = certify(folder, fault.subject, *chosen, code=fault.code)
    path = folder / "certificate" / "certificate.json"
    assert path.exists(), done.stdout + done.stderr
    return json.loads(path.read_text())


def judge(fault: Fault, *options: str) -> str | None:
    """Returns why a fault is not found; None if it is, and the report names the place.

    Args:
        fault: The fault.
        options: Further arguments of ``chainer certify``.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = report_of(fault, Path(folder), *options)
    if not report["results"]:
        return "nothing was tested"
    if report["passed"]:
        return "not found"
    found = report["places"][:_PLACES]
    if not set(found) & set(fault.places):
        return f"the report names {', '.join(found)}, expected {' or '.join(fault.places)}"
    return None
