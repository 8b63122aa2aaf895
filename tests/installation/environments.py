"""Copies of the clone and virtual environments in which commands run as a user's do."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: What an environment of this machine would tell the commands, and a user's would not.
#: ARGS is exported by ``make test-install ARGS=--all``, and would reach ``make demo``.
_PRIVATE = ("ARGS", "CHAINER_", "PYTEST", "PYTHON", "VIRTUAL_ENV", "CONDA_", "MAKE", "MFLAGS")

#: Folders at the root that a clone does not have.
_MADE = ("dist", "result", "site", "build", ".git", ".peers")

#: What the tests set for the commands. Compiling all modules of NumPy and others takes longer than
#: installing them; those that a command imports are compiled then.
SETTINGS = {"OMP_NUM_THREADS": "1", "PIP_COMPILE": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def everything() -> bool:
    """Returns whether all commands run, as ``make test-install ARGS=--all`` asks, or a sample."""
    return os.environ.get("CHAINER_TEST_COMMANDS") == "all"


def copy_clone(folder: Path) -> Path:
    """Copies the files of this clone, without what was made in it."""

    def ignored(directory: str, names: list[str]) -> set[str]:
        found = {name for name in names if name in ("__pycache__", "pictures")}
        if Path(directory) == ROOT:
            found |= {n for n in names if n in _MADE or n.startswith(".venv") or "_cache" in n}
        return found

    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
    # `pre-commit install` writes a hook of git.
    if shutil.which("git"):
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True, timeout=60)
    return folder


def make_environment(folder: Path) -> Path:
    """Makes a virtual environment, and skips the test if pip reaches no package index."""
    skip_without_index()
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=300)
    return folder


def skip_without_index() -> None:
    """Skips the test if pip reaches no package index."""
    if not _reaches_index():
        pytest.skip("pip reaches no package index")


@functools.cache
def _reaches_index() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        probe = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "pluggy"],
            cwd=folder,
            capture_output=True,
            timeout=300,
        )
    return probe.returncode == 0


def run(line: str, folder: Path, environment: Path | None, seconds: float = 600) -> str:
    """Runs a command line as in a shell with an empty home and an activated environment.

    Args:
        line: The command line, for bash.
        folder: The current folder.
        environment: The virtual environment that is activated; None for none.
        seconds: How long it may take.

    Returns:
        str: What it printed. The test fails if its exit status is not 0.
    """
    clean = {k: v for k, v in os.environ.items() if not k.startswith(_PRIVATE)}
    # Neither this test's environment: a user's shell finds the Python of the system.
    path = [p for p in clean["PATH"].split(os.pathsep) if not p.startswith(str(ROOT))]
    if environment is not None:
        path.insert(0, str(environment / "bin"))
        clean["VIRTUAL_ENV"] = str(environment)
    home = folder / ".empty-home"
    home.mkdir(exist_ok=True)
    clean |= {"HOME": str(home), "PATH": os.pathsep.join(path), **SETTINGS}
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -e\n{line}"],
        cwd=folder,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout[-8000:]}"
    return done.stdout


def printed_command(output: str) -> str:
    """Returns the command of pip in the text of a message."""
    match = re.search(r"(\S*(?:pip|-m pip) install .+?)(?: or \S*pip install.*)?$", output, re.M)
    assert match is not None, output
    return match[1]
