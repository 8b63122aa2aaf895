"""Snapshots of whole trainers exchanged with release 7.8.1 (see data/exchange_snapshots.py)."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
PROGRAM = DATA / "exchange_snapshots.py"
ROOT = Path(__file__).resolve().parents[2]
RELEASE_7 = Path(
    os.environ.get("CHAINER7_PYTHON") or ROOT / ".peers" / "chainer7" / "bin" / "python"
)


def run(python, *args):
    done = subprocess.run(
        [python, PROGRAM, *args],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "momentum-serial-two-npz",
        "amsgrad-threads-one-npz",
        "graves-serial-one-h5",
        "delta-threads-two-h5",
    ],
)
def test_snapshots_of_release_7_are_resumed(name, tmp_path):
    if name.endswith("h5"):
        pytest.importorskip("h5py")
    with zipfile.ZipFile(DATA / "exchange_v7.8.1.zip") as archive:
        archive.extractall(tmp_path)
    assert run(sys.executable, "resume", tmp_path, name) == "1 agree\n"


@pytest.mark.slow
@pytest.mark.skipif(not RELEASE_7.exists(), reason="needs Chainer 7.8.1 (scripts/setup_peers.py)")
@pytest.mark.parametrize("writer", ["here", "release 7"])
def test_every_combination(writer, tmp_path):
    pythons = [sys.executable, RELEASE_7]
    if writer == "release 7":
        pythons.reverse()
    assert run(pythons[0], "write", tmp_path) == "32 agree\n"
    for python in pythons:
        assert run(python, "resume", tmp_path) == "32 agree\n"
