"""Snapshots of whole trainers exchanged with release 7.8.1 (see data/exchange_snapshots.py)."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from tests.earlier_releases import RELEASE_7, needs_release_7, run

DATA = Path(__file__).parent / "data"
PROGRAM = DATA / "exchange_snapshots.py"


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
    assert run(sys.executable, PROGRAM, "resume", tmp_path, name) == "1 agree\n"


@pytest.mark.slow
@needs_release_7
@pytest.mark.parametrize("writer", ["here", "release 7"])
def test_every_combination(writer, tmp_path):
    pythons = [sys.executable, RELEASE_7]
    if writer == "release 7":
        pythons.reverse()
    assert run(pythons[0], PROGRAM, "write", tmp_path) == "32 agree\n"
    for python in pythons:
        assert run(python, PROGRAM, "resume", tmp_path) == "32 agree\n"
