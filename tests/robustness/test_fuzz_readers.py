"""A few damaged files of each format; ``fuzz_readers.py`` tries as many as there is time for."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

import chainer
from tests.robustness import fuzz_readers, mutations


@pytest.mark.parametrize("name", fuzz_readers.FORMATS)
def test_damaged_files(name, tmp_path):
    if name == "onnx":
        pytest.importorskip("onnx_chainer")
    target = fuzz_readers.Target(name, str(tmp_path))
    good = target.make()
    target(good)
    rng = random.Random(1)
    for _ in range(25):
        target(mutations.mutate(good, rng))
    assert target.count == 26


def test_a_finding_is_an_error(tmp_path, monkeypatch):
    def read(path):
        raise IndexError

    monkeypatch.setitem(fuzz_readers.FORMATS, "idx", (lambda: b"0123", read))
    found = fuzz_readers._own(fuzz_readers.Target("idx", str(tmp_path)), 0.05, 0, tmp_path / "f")
    assert found == 1
    assert (tmp_path / "f" / "1.input").exists()
    assert "IndexError" in (tmp_path / "f" / "1.txt").read_text()


def test_zip_members_without_a_name(tmp_path):
    import zipfile

    pytest.importorskip("PIL")
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.png", b"no image")
    path.write_bytes(path.read_bytes().replace(b"a.png", b"\0.png"))
    assert len(chainer.datasets.ZippedImageDataset(str(path))) == 1


def test_readers_are_imported_where_atheris_sees_it():
    """A reader that is imported with this module would be fuzzed without guidance."""
    code = "import sys, fuzz_readers; print(sorted({*sys.modules} & {'chainer_step_player'}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(fuzz_readers.__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_headers_of_steps_are_read(tmp_path):
    """The reader of headers gets as far as the reader of whole files."""
    target = fuzz_readers.Target("step.json", str(tmp_path))
    good = target.make()
    with pytest.raises(chainer.serializers.FileFormatError, match="not the file"):
        target._read(str(_written(tmp_path, good.replace(b'"format"', b'"other"'))))
    with pytest.raises(chainer.serializers.FileFormatError, match="damaged"):
        target._read(str(_written(tmp_path, good.replace(b'"programs"', b'"other"'))))
    target._read(str(_written(tmp_path, good)))


def _written(folder, data):
    path = folder / "header"
    path.write_bytes(data)
    return path
