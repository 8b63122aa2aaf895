"""Runs a command in the emulation: ``python -m tests.gpu.emulation [options] COMMAND ...``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import build, requirements, state

HERE = Path(__file__).resolve().parent


def environment(arguments: argparse.Namespace, folder: Path) -> dict[str, str]:
    """Returns the environment of a process in the emulation."""
    paths = [HERE / "startup", *([HERE / "cudnn"] if arguments.cudnn else [])]
    return {
        **os.environ,
        state.FOLDER: str(folder),
        "CHAINER_EMULATION_CACHE": str(build.cache_folder()),
        "CHAINER_EMULATION_DEVICES": str(arguments.devices),
        "CHAINER_EMULATION_PEERS": str(int(not arguments.no_peers)),
        **({"CHAINER_EMULATION_IDLE": "1"} if arguments.idle else {}),
        "LD_LIBRARY_PATH": _joined([folder], "LD_LIBRARY_PATH"),
        "PYTHONPATH": _joined(paths, "PYTHONPATH"),
        "CUPY_ACCELERATORS": "",  # CUB and cuTENSOR need a real device
        "CUPY_CACHE_IN_MEMORY": "1",  # programs.py keeps the kernels
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }


def _joined(paths: list[Path], variable: str) -> str:
    return os.pathsep.join([*map(str, paths), *filter(None, [os.environ.get(variable)])])


def main() -> str | None:
    """Checks, builds and becomes the command; returns what is missing where it cannot."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.emulation", description=__doc__)
    parser.add_argument("--devices", type=int, default=1, help="number of devices (1)")
    parser.add_argument("--no-peers", action="store_true", help="devices cannot access each other")
    parser.add_argument("--cudnn", action="store_true", help="cuDNN is there, played by NumPy")
    parser.add_argument(
        "--idle", action="store_true", help="kernels and matrix products do nothing"
    )
    parser.add_argument("command", help="a program, a .py file, or pytest")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    reason = requirements.missing()
    if reason is not None:
        return f"CUDA cannot be emulated here: {reason}"
    folder = build.prepare()
    command = [arguments.command, *arguments.arguments]
    if arguments.command == "pytest":
        command = [sys.executable, "-m", *command]
    elif arguments.command.endswith(".py") or arguments.command == "python":
        command = [sys.executable, *(command[1:] if arguments.command == "python" else command)]
    sys.stdout.flush()
    os.execvpe(command[0], command, environment(arguments, folder))


if __name__ == "__main__":
    sys.exit(main())
