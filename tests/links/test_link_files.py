"""Files of links exchanged with earlier releases, in both directions."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

DATA = pathlib.Path(__file__).parent / "data"
PROGRAM = DATA / "exchange_link_files.py"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def exchange(python, *args):
    done = subprocess.run(
        [python, PROGRAM, *args],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_files_of_every_link_of_an_earlier_release(tmp_path):
    # Written by release 7.8.1 with the same program.
    with zipfile.ZipFile(DATA / "upstream_link_files.zip") as archive:
        archive.extractall(tmp_path)
    assert exchange(sys.executable, "read", tmp_path) == "88 links agree\n"


@pytest.mark.slow
@pytest.mark.parametrize(("release", "count"), [("chainer7", 88), ("chainer4", 81)])
def test_files_read_by_an_earlier_release(tmp_path, release, count):
    python = ROOT / ".peers" / release / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no environment of {release} (scripts/setup_peers.py makes them)")
    exchange(sys.executable, "write", tmp_path)
    assert exchange(python, "read", tmp_path) == f"{count} links agree\n"
    for path in tmp_path.iterdir():
        path.unlink()
    exchange(python, "write", tmp_path)
    assert exchange(sys.executable, "read", tmp_path) == f"{count} links agree\n"
