"""Everything that needs a GPU, in one go: ``make gpu OUT=folder``.

Runs the tests marked ``gpu`` and the benchmarks against PyTorch with the interpreter it is started
with, within ``--minutes`` in all (10 by default), and writes to the folder::

    environment.txt   card, driver, versions of the libraries, devices as Chainer sees them
    tests.txt         output of pytest; tests.xml the same for programs
    benchmarks.txt    tables and budgets; benchmarks.json all samples
    summary.txt       what ran, how long, with what exit status; also printed

Needs numpy, pluggy, pytest, cupy and, for cuDNN, nvidia-cudnn-frontend and cuDNN; h5py, torch and
pytest-xdist are used where they are. Chainer itself need not be installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_ENVIRONMENT = """
import platform, sys
from importlib import metadata
print("python", platform.python_version(), sys.executable)
names = ("numpy", "pytest", "pluggy", "h5py", "torch", "pytest-xdist", "nvidia-cudnn-frontend")
starts = ("cupy", "nvidia-cudnn")
for d in sorted(metadata.distributions(), key=lambda d: str(d.name)):
    if d.name in names or str(d.name).startswith(starts):
        print(d.name, d.version)
import chainer
from chainer.backends.cupy.cudnn import library
backend = chainer.get_device("@cupy:0").backend
print("chainer", chainer.__version__, "devices", list(map(str, backend.devices())))
print("cudnn:", library.missing() or library.require().backend_version())
"""


@dataclass(frozen=True)
class Step:
    """A command whose output goes to a file.

    Attributes:
        name: Name of the file without suffix.
        command: The command.
        share: Part of the time that is left which it may take.
    """

    name: str
    command: list[str]
    share: float


def main() -> int:
    """Runs all; returns 1 if anything failed, else 0."""
    options = _options()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * options.minutes
    lines, failed = [], False
    for step in _steps(folder, options.quick, options.minutes):
        limit = max(10.0, step.share * (end - time.monotonic()))
        start = time.monotonic()
        status = _run(step, folder, limit)
        failed = failed or status != "0"
        line = f"{step.name}: exit status {status}, {time.monotonic() - start:.0f} s"
        print(line, flush=True)
        lines.append(line)
        tail = _last_lines(folder / f"{step.name}.txt")
        lines += ["    " + text for text in tail]
        (folder / "summary.txt").write_text("\n".join(lines) + "\n")
    print((folder / "summary.txt").read_text())
    return 1 if failed else 0


def _steps(folder: Path, quick: bool, minutes: float) -> list[Step]:
    python = sys.executable
    tests = [python, "-X", "faulthandler", "-m", "pytest", "-m", "gpu", "-q", "-rfE"]
    tests += ["--durations=20", "--maxfail=200", f"--junitxml={folder / 'tests.xml'}"]
    tests += ["-p", "no:cacheprovider", "tests/gpu", "tests/backends/cupy"]
    if importlib.util.find_spec("xdist") is not None:
        # Most of the time goes into compiling kernels, on processors.
        tests += ["-n", str(min(8, os.cpu_count() or 1)), "--dist", "worksteal"]
    benchmarks = [python, "-m", "benchmarks.gpu", "--json", str(folder / "benchmarks.json")]
    benchmarks += ["operations", "mlp", "optimizers", "convnets", "language_model", "memory"]
    benchmarks += ["convnets_tuned"]
    if quick:
        tests += ["-k", "relu or test_training or test_cudnn"]
        benchmarks.append("--quick")
    elif minutes <= 15:
        benchmarks += ["--rounds", "5"]
    steps = [
        Step("environment", [python, "-c", _ENVIRONMENT], 0.2),
        Step("tests", tests, 0.6),
    ]
    if importlib.util.find_spec("torch") is not None:
        steps.append(Step("benchmarks", benchmarks, 0.97))
    return steps


def _run(step: Step, folder: Path, limit: float) -> str:
    """Runs a step; returns its exit status, or that it was ended."""
    environment = dict(os.environ, PYTHONUNBUFFERED="1", OMP_NUM_THREADS="1")
    path = [str(ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(path)
    with (folder / f"{step.name}.txt").open("w") as output:
        if step.name == "environment":
            _nvidia_smi(output)
        try:
            finished = subprocess.run(
                step.command,
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return f"none, ended after {limit:.0f} s"
    return str(finished.returncode)


def _nvidia_smi(output) -> None:
    try:
        subprocess.run(["nvidia-smi"], stdout=output, stderr=subprocess.STDOUT, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        output.write(f"nvidia-smi: {error}\n")
        output.flush()


def _last_lines(path: Path, count: int = 12) -> list[str]:
    return path.read_text(errors="replace").rstrip().splitlines()[-count:]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Tests and benchmarks that need a GPU.")
    parser.add_argument("folder", type=Path, help="where the logs go")
    parser.add_argument("--minutes", type=float, default=10.0, help="time for all (default 10)")
    parser.add_argument("--quick", action="store_true", help="few tests and tiny benchmarks")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main())
