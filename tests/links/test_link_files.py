"""Files of links exchanged with earlier releases, in both directions."""

from __future__ import annotations

import pathlib
import sys
import zipfile

import pytest

from tests.earlier_releases import run, skip_without

DATA = pathlib.Path(__file__).parent / "data"
PROGRAM = DATA / "exchange_link_files.py"


def test_files_of_every_link_of_an_earlier_release(tmp_path):
    # Written by release 7.8.1 with the same program.
    with zipfile.ZipFile(DATA / "upstream_link_files.zip") as archive:
        archive.extractall(tmp_path)
    assert run(sys.executable, PROGRAM, "read", tmp_path) == "88 links agree\n"


@pytest.mark.slow
@pytest.mark.parametrize(("release", "count"), [(7, 88), (4, 81)])
def test_files_read_by_an_earlier_release(tmp_path, release, count):
    python = skip_without(release)
    run(sys.executable, PROGRAM, "write", tmp_path)
    assert run(python, PROGRAM, "read", tmp_path) == f"{count} links agree\n"
    for path in tmp_path.iterdir():
        path.unlink()
    run(python, PROGRAM, "write", tmp_path)
    assert run(sys.executable, PROGRAM, "read", tmp_path) == f"{count} links agree\n"
