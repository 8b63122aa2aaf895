import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

from chainer.links.serializers import file_format
from chainer.links.serializers.npz_archive import FileFormatError, read_npz, write_npz

NONE = np.array(None, dtype=object)


@pytest.fixture
def arrays():
    return {
        "l1/W": np.arange(6, dtype=np.float32).reshape(2, 3),
        "l1/b": np.zeros((0, 3)),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "text": np.array("grüße"),
        "flag": np.array(True),
        "none": NONE,
        "big_endian": np.arange(3, dtype=">i4"),
    }


@pytest.mark.parametrize("compression", [True, False])
def test_round_trip(arrays, compression, tmp_path):
    path = tmp_path / "file"
    write_npz(path, arrays, compression)
    loaded = read_npz(path)
    assert list(loaded) == list(arrays)
    for key, array in arrays.items():
        assert loaded[key].dtype == array.dtype
        np.testing.assert_array_equal(loaded[key], array)
    with np.load(path, allow_pickle=True) as numpys:
        np.testing.assert_array_equal(numpys["l1/W"], arrays["l1/W"])
        assert numpys["none"].item() is None


def test_reads_what_numpy_writes(arrays, tmp_path):
    path = tmp_path / "file.npz"
    np.savez_compressed(path, **arrays)
    loaded = read_npz(str(path))
    for key, array in arrays.items():
        np.testing.assert_array_equal(loaded[key], array)


def test_equal_contents_make_equal_files(arrays):
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        write_npz(file, arrays, True)
    assert files[0].getvalue() == files[1].getvalue()


def test_only_what_is_wanted_is_read(arrays, tmp_path):
    path = tmp_path / "file"
    write_npz(path, arrays, True)
    assert list(read_npz(path, lambda key: key.startswith("l1/"))) == ["l1/W", "l1/b"]


def test_objects_are_not_written():
    with pytest.raises(TypeError, match=r"'x'.*Python objects"):
        write_npz(io.BytesIO(), {"x": np.array([{}], dtype=object)}, True)


def good_file(tmp_path, compression=True):
    path = tmp_path / "model.npz"
    rng = np.random.RandomState(0)
    write_npz(path, {"a": rng.rand(50), "b": rng.rand(50)}, compression)
    return path


@pytest.mark.parametrize("compression", [True, False])
def test_every_truncation_is_found(tmp_path, compression):
    path = good_file(tmp_path, compression)
    data = path.read_bytes()
    for length in (*range(0, len(data), 37), len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(FileFormatError, match=r"model\.npz"):
            read_npz(path)


@pytest.mark.parametrize("compression", [True, False])
def test_no_flipped_bit_of_the_contents_goes_unnoticed(tmp_path, compression):
    path = good_file(tmp_path, compression)
    data = path.read_bytes()
    good = read_npz(path)
    with zipfile.ZipFile(path) as archive:
        end = archive.start_dir
    for position in range(0, end, 13):
        damaged = bytearray(data)
        damaged[position] ^= 4
        path.write_bytes(damaged)
        try:
            loaded = read_npz(path)
        except FileFormatError:
            continue
        # A byte of a local header that nobody reads.
        for key, array in good.items():
            np.testing.assert_array_equal(loaded[key], array)


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\3\4" + bytes(100), b"\x93NUMPY", bytes(2000)])
def test_foreign_file(tmp_path, data):
    path = tmp_path / "foreign"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match="foreign"):
        read_npz(path)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_npz(tmp_path / "missing")


class Evil:
    def __reduce__(self):
        return (open, ("/nonexistent/written by a pickle", "w"))


@pytest.mark.parametrize("shape", [(), (1,)])
def test_pickles_are_never_loaded(tmp_path, shape):
    path = tmp_path / "evil.npz"
    np.savez(path, a=np.full(shape, Evil(), dtype=object))
    with pytest.raises(
        FileFormatError, match=r"a\.npy.*evil\.npz.*pickled Python objects.*allow_pickle"
    ):
        read_npz(path)


def test_array_of_many_nones_is_refused(tmp_path):
    path = tmp_path / "file.npz"
    np.savez(path, a=np.array([None, None], dtype=object))
    with pytest.raises(FileFormatError, match="pickled"):
        read_npz(path)


def npy(header, body=b"", version=1):
    text = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(text)) + text + body


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged"),
        (b"no numpy", "damaged"),
        (
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", bytes(16)),
            "24 bytes, not 16",
        ),
        (
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", bytes(32)),
            "24 bytes, not 32",
        ),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }", bytes(24)), "negative"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,), }"), "damaged"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }"), "not 0"),
        (
            npy("{'descr': '|V0', 'fortran_order': False, 'shape': (99999999999,), }"),
            "without bytes",
        ),
        (npy("{'descr': 'nonsense', 'fortran_order': False, 'shape': (), }"), "damaged"),
        (npy("__import__('os').abort()"), "damaged"),
        (
            npy("{'descr': '|O', 'fortran_order': False, 'shape': (), }", pickle.dumps(Evil())),
            "pickled",
        ),
        (
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", bytes(8), version=9),
            "version",
        ),
    ],
)
def test_hostile_headers(tmp_path, content, message):
    path = tmp_path / "file.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content)
    with pytest.raises(FileFormatError, match=message):
        read_npz(path)


def test_entries_twice(tmp_path):
    path = tmp_path / "file.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", b"")
    with pytest.raises(FileFormatError, match="twice"):
        read_npz(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression(tmp_path, method):
    path = tmp_path / "file.npz"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(
            "a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", bytes(8))
        )
    with pytest.raises(FileFormatError, match="compressed by method"):
        read_npz(path)


def patched_directory(path, offset, form, value):
    """Changes a field of the first entry of the central directory."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        struct.pack_into(form, data, archive.start_dir + offset, value)
    path.write_bytes(data)


def test_declared_size_that_deflate_cannot_reach(tmp_path):
    path = good_file(tmp_path)
    patched_directory(path, 24, "<I", 0xFFFFFFF0)
    with pytest.raises(FileFormatError, match=r"more than its .* compressed bytes can hold"):
        read_npz(path)


def test_encrypted(tmp_path):
    path = good_file(tmp_path)
    patched_directory(path, 8, "<H", 1)
    with pytest.raises(FileFormatError, match="encrypted"):
        read_npz(path)


def test_overlapping_entries(tmp_path):
    path = good_file(tmp_path)
    with zipfile.ZipFile(path) as archive:
        offset = archive.infolist()[1].header_offset
    patched_directory(path, 42, "<I", offset)
    with pytest.raises(FileFormatError, match="overlaps"):
        read_npz(path)


def test_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    write_npz(path, {"a": np.zeros(1 << 20, np.uint8)}, True)
    memory = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 200}
    monkeypatch.setattr(file_format.os, "sysconf", memory.__getitem__)
    with pytest.raises(FileFormatError, match=r"bomb\.npz.*would take"):
        read_npz(path)
