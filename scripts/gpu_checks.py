"""Everything that needs a GPU, in one go: ``make gpu OUT=folder``.

Runs the tests marked ``gpu`` and the benchmarks against PyTorch with the interpreter it is started
with, within ``--minutes`` in all (9.5 by default), and writes to the folder, while it goes on::

    environment.txt   card, driver, versions of the libraries, devices as Chainer sees them
    tests.txt         output of pytest; tests.xml the same for programs
    benchmarks.txt    tables and budgets; benchmarks.json all samples
    summary.txt       what ran, how long, with what exit status; also printed

A step that fails or takes too long does not keep the next ones from running. One that takes too
long is interrupted, so that it can say what it has found, and ended with all processes it started.

Needs numpy, pluggy, pytest, cupy and, for cuDNN, nvidia-cudnn-frontend and cuDNN; h5py, torch,
ml_dtypes (bfloat16) and pytest-xdist are used where they are. Chainer itself need not be installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Most seconds that an interrupted step has to come to an end.
_GRACE = 15.0

_ENVIRONMENT = """
import platform, sys
from importlib import metadata
print("python", platform.python_version(), sys.executable)
names = ("numpy", "pytest", "pluggy", "h5py", "torch", "pytest-xdist", "ml_dtypes")
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
    return 0 if run_steps(_steps(folder, options.quick, options.minutes), folder, end) else 1


def run_steps(steps: list[Step], folder: Path, end: float) -> bool:
    """Runs steps one after the other, and writes and prints the summary.

    Args:
        steps: The steps.
        folder: Where the logs go.
        end: When all have to be over, by ``time.monotonic()``.

    Returns:
        bool: Whether all were successful.
    """
    lines, successful = [], True
    for step in steps:
        start = time.monotonic()
        share = max(1.0, step.share * (end - start))
        grace = min(_GRACE, share / 4)
        status = _run(step, folder, share - grace, grace)
        successful = successful and status == "0"
        line = f"{step.name}: exit status {status}, {time.monotonic() - start:.0f} s"
        print(line, flush=True)
        lines.append(line)
        tail = _last_lines(folder / f"{step.name}.txt")
        lines += ["    " + text for text in tail]
        (folder / "summary.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return successful


def _steps(folder: Path, quick: bool, minutes: float) -> list[Step]:
    python = sys.executable
    tests = [python, "-X", "faulthandler", "-m", "pytest", "-m", "gpu", "-q", "-rfE"]
    tests += ["--durations=20", "--maxfail=200", f"--junitxml={folder / 'tests.xml'}"]
    tests += ["-p", "no:cacheprovider", "-p", "tests.gpu.broken_device"]
    tests += ["-o", "faulthandler_timeout=100", "tests/gpu", "tests/backends/cupy"]
    if importlib.util.find_spec("xdist") is not None:
        # Most of the time goes into compiling kernels, on processors.
        tests += ["-n", str(min(8, os.cpu_count() or 1)), "--dist", "worksteal"]
        tests += ["--max-worker-restart", "50"]
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


def _run(step: Step, folder: Path, limit: float, grace: float) -> str:
    """Runs a step; returns its exit status, or that it was interrupted."""
    environment = dict(os.environ, PYTHONUNBUFFERED="1", OMP_NUM_THREADS="1")
    path = [str(ROOT), *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(path)
    with (folder / f"{step.name}.txt").open("w") as output:
        if step.name == "environment":
            _nvidia_smi(output)
        try:
            process = subprocess.Popen(
                step.command,
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.write(f"{error}\n")
            return "none, could not be started"
        try:
            return str(process.wait(limit))
        except subprocess.TimeoutExpired:
            return f"{_interrupt(process, grace)}, interrupted after {limit:.0f} s"
        finally:
            _end_all(process)


def _interrupt(process: subprocess.Popen[bytes], grace: float) -> str:
    """Interrupts a process as the keyboard does; returns its exit status, or that it has none."""
    process.send_signal(signal.SIGINT)
    try:
        return str(process.wait(grace))
    except subprocess.TimeoutExpired:
        return "none"


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of a process and those it started: they would hold memory of the GPU."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all have ended
    process.wait()


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
    parser.add_argument("--minutes", type=float, default=9.5, help="time for all (default 9.5)")
    parser.add_argument("--quick", action="store_true", help="few tests and tiny benchmarks")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main())
