"""A few damaged files of each format; ``fuzz_readers.py`` tries as many as there is time for."""

import random

import pytest

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

    import chainer

    pytest.importorskip("PIL")
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.png", b"no image")
    path.write_bytes(path.read_bytes().replace(b"a.png", b"\0.png"))
    assert len(chainer.datasets.ZippedImageDataset(str(path))) == 1
