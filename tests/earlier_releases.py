"""Interpreters that have an earlier release, with which files are exchanged."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def python_of(release: int) -> Path:
    """Returns the interpreter of an environment that scripts/setup_peers.py makes.

    The environment variables ``CHAINER4_PYTHON`` and ``CHAINER7_PYTHON`` name others.

    Args:
        release: 4 or 7.
    """
    given = os.environ.get(f"CHAINER{release}_PYTHON")
    return Path(given or ROOT / ".peers" / f"chainer{release}" / "bin" / "python")


RELEASE_4, RELEASE_7 = python_of(4), python_of(7)


def skip_without(release: int) -> Path:
    """Returns the interpreter of a release; skips the test if there is none."""
    python = python_of(release)
    if not python.exists():
        pytest.skip(f"needs Chainer {release} (scripts/setup_peers.py)")
    return python


needs_release_7 = pytest.mark.skipif(
    not RELEASE_7.exists(), reason="needs Chainer 7.8.1 (scripts/setup_peers.py)"
)


def run(python: str | Path, program: str | Path, *args: str | Path) -> str:
    """Runs a program in an interpreter and returns what it prints.

    Args:
        python: The interpreter.
        program: File of the program.
        args: Its arguments.
    """
    done = subprocess.run(
        [python, program, *args],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
