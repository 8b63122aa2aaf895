"""Starts :mod:`.export` in a Python that has PyTorch."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from chainer.testing.certification.opinfo import export
from chainer.testing.certification.opinfo.rows import ROWS
from chainer.testing.certification.suite_error import SuiteError

#: PyTorch takes half a minute on a slow machine. A program that takes longer than this hangs.
_MOST_SECONDS = 1200.0


@dataclass(frozen=True)
class Exported:
    """The output of PyTorch.

    Attributes:
        version: Version of PyTorch.
        missing: Names of OpInfo that this version does not have.
        errors: Files that could not be written -> the error.
    """

    version: str
    missing: list[str]
    errors: dict[str, str]


def export_samples(python: str, folder: Path, dtypes: Iterable[str]) -> Exported:
    """Writes the samples of all rows into a folder.

    Args:
        python: A Python that has PyTorch.
        folder: The folder.
        dtypes: Names of dtypes.

    Raises:
        SuiteError: If that Python cannot do it.
    """
    names = sorted({row.op for row in ROWS})
    command = [python, str(export.__file__), str(folder), ",".join(dtypes), *names]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_MOST_SECONDS
        )
    except OSError as error:
        raise SuiteError(f"--opinfo {python}: it cannot be started: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise SuiteError(f"--opinfo {python}: PyTorch took over {_MOST_SECONDS:.0f} s") from error
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise SuiteError(
            f"--opinfo {python}: PyTorch's samples cannot be read there: {last}\n"
            f"They need: {python} -m pip install torch numpy expecttest"
        )
    found = json.loads(done.stdout.strip().rpartition("\n")[2])
    return Exported(found["torch"], found["missing"], found["errors"])
