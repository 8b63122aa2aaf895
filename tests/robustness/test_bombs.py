"""Small files that declare, or expand to, very much: each reader refuses them before it has it."""

import gzip
import io
import json
import re
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

import chainer.links as L
from chainer import datasets, serializers
from chainer.serializers import FileFormatError
from chainer.training.datasets import svhn
from chainer.training.datasets.mnist_format import read_idx

Image = pytest.importorskip("PIL.Image")

#: Width and height of an image with more pixels than are read.
WIDE, HIGH = 200_000, 1000


def _ppm():
    return b"P6 %d %d 255\n" % (WIDE, HIGH)


def _bmp():
    head = struct.pack("<IHHI", 1000, 0, 0, 54)
    return b"BM" + head + struct.pack("<IiiHHIIiiII", 40, WIDE, HIGH, 1, 24, *[0] * 6)


def _gif(screen=65535):
    palette = bytes(768)
    frame = struct.pack("<HHHHB", 0, 0, 65535, 65535, 0)
    size = struct.pack("<HHBBB", screen, screen, 0xF7, 0, 0)
    return b"GIF89a" + size + palette + b"," + frame + b"\x02\x02L\x01\0;"


def _tiff():
    tags = [(256, WIDE), (257, HIGH), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, HIGH)]
    entries = b"".join([struct.pack("<HHII", tag, 4, 1, value) for tag, value in [*tags, (279, 9)]])
    return b"II*\0" + struct.pack("<IH", 8, 9) + entries + bytes(4)


def _webp():
    return b"RIFF" + struct.pack("<I", 100) + b"WEBPVP8X" + struct.pack("<II", 10, 0) + b"\xff" * 6


def _png():
    header = b"IHDR" + struct.pack(">IIBBBBB", WIDE, HIGH, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + bytes(4)


def _icon():
    """An icon whose entry is a picture that is larger than the entry says."""
    png = _png()
    entry = struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(png), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + png


IMAGES = {
    "ppm": _ppm,
    "bmp": _bmp,
    "gif": _gif,
    "gif of a larger frame": lambda: _gif(1),
    "tiff": _tiff,
    "webp": _webp,
    "png": _png,
    "ico": _icon,
}


@pytest.mark.parametrize("name", IMAGES)
def test_formats_of_images(name, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(IMAGES[name]() + bytes(100))
    tracemalloc.start()
    with pytest.raises(Image.DecompressionBombError, match="image '.*' is refused: Image size"):
        datasets.ImageDataset([str(path)])[0]
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_readers_of_images(tmp_path):
    name = str(tmp_path / "a.ppm")
    with open(name, "wb") as file:
        file.write(_ppm())
    archive = str(tmp_path / "a.zip")
    with zipfile.ZipFile(archive, "w") as file:
        file.write(name, "a.ppm")
    (tmp_path / "pairs").write_text("a.ppm 0\n")
    pairs = str(tmp_path / "pairs")
    for dataset in (
        datasets.ImageDataset([name]),
        datasets.LabeledImageDataset([(name, 0)]),
        datasets.ZippedImageDataset(archive),
        datasets.MultiZippedImageDataset([archive]),
        datasets.LabeledZippedImageDataset(archive, pairs),
    ):
        with pytest.raises(Image.DecompressionBombError, match="is refused"):
            dataset[0]


def test_texts_in_an_image(tmp_path):
    """Compressed comments of a PNG file."""

    def chunk(kind, data):
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    text = chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(900_000)))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(bytes(6)))
    content = b"\x89PNG\r\n\x1a\n" + head + text * 100 + pixels + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(OSError, match="Too much memory used in text chunks"):
        datasets.ImageDataset([str(tmp_path / "a.png")])[0]


def test_zip_member_of_a_forged_size(tmp_path):
    """The directory says that the member is small."""
    path = tmp_path / "a.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.png", "w") as member,
    ):
        for _ in range(50):
            member.write(bytes(1_000_000))
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.rfind(b"PK\x01\x02") + 24, 1000)
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(zipfile.BadZipFile):
        datasets.ZippedImageDataset(str(path))[0]
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_gzip_that_expands_to_more_than_it_declares(tmp_path):
    path = tmp_path / "a.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(bytes([0, 0, 8, 1, 0, 0, 0, 10]))
        for _ in range(50):
            file.write(bytes(1_000_000))
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="must hold 10 bytes .* got more than 10"):
        read_idx(str(path))
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_matlab_file_that_declares_more_than_it_has(tmp_path):
    pytest.importorskip("scipy")
    name = struct.pack("<II", 1, 1) + b"X" + bytes(7)
    shape = struct.pack("<IIiiii", 5, 16, 32, 32, 3, 1)
    body = struct.pack("<IIII", 6, 8, 9, 0) + shape + name + struct.pack("<II", 2, 3 << 30)
    head = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + struct.pack("<H", 0x0100) + b"IM"
    content = head + struct.pack("<II", 14, len(body) + (3 << 30)) + body + bytes(100)
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(FileFormatError, match="damaged or not an SVHN file"):
        svhn._parse(str(tmp_path / "a.mat"))


HDF5 = {
    "nothing is stored": {"shape": (2, 1 << 30), "dtype": "f4", "chunks": (2, 1 << 20)},
    "texts": {"shape": (1 << 28,), "dtype": "text"},
    "records": {"shape": (2, 3), "dtype": [("a", "f4", (1 << 26,))]},
}


@pytest.mark.parametrize("name", HDF5)
def test_hdf5_that_declares_more_than_it_stores(name, tmp_path):
    """Also where the parameter has no shape yet, so that it would take the declared one."""
    h5py = pytest.importorskip("h5py")
    options = dict(HDF5[name])
    dtype = options.pop("dtype")
    dtype = h5py.string_dtype() if dtype == "text" else np.dtype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("W", dtype=dtype, **options)
        file.create_dataset("b", data=np.zeros(2, "f"))
    with pytest.raises(FileFormatError, match="of which the file stores 0"):
        serializers.load_hdf5(tmp_path / "a.h5", L.Linear(None, 2))
    with pytest.raises((FileFormatError, ValueError, TypeError)):
        serializers.load_hdf5(tmp_path / "a.h5", L.Linear(3, 2))


def _with_numbers_like_heaps(path, **options):
    """Writes a file whose numbers resemble heaps, some of them where a chunk of reading ends."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", **options) as file:
        file.create_dataset("numbers", data=np.frombuffer(b"HEAP\0\0\0\0" * 140_001, np.int8))
        group = file.create_group("a")
        group.create_dataset("W", data=np.ones((2, 3), "f"))
        group.create_dataset("b", data=np.ones(2, "f"))
    model = L.Linear(3, 2)
    serializers.load_hdf5(path, model, path="a")
    assert (model.W.array == 1).all()


@pytest.mark.parametrize("place", [0, 512])
@pytest.mark.parametrize("name", [b"numbers\0", b"W\0"])
def test_hdf5_whose_list_of_free_parts_does_not_end(name, place, tmp_path):
    """The HDF5 library would take all memory of the machine: found by fuzzing."""
    _with_numbers_like_heaps(tmp_path / "a.h5", libver="earliest", userblock_size=place)
    content = bytearray((tmp_path / "a.h5").read_bytes())
    changed = 0
    for match in re.finditer(b"HEAP\0\0\0\0", content):
        length, part, data = struct.unpack_from("<QQQ", content, match.end())
        if data + length < len(content) and name in content[place + data :][:length]:
            struct.pack_into("<Q", content, place + data + part, part)
            changed += 1
    assert changed == 1
    (tmp_path / "a.h5").write_bytes(content)
    with pytest.raises(FileFormatError, match="the list of free parts of its heap at byte"):
        serializers.load_hdf5(tmp_path / "a.h5", L.Linear(3, 2), path="a")
    stream = io.BytesIO(content)
    with pytest.raises(FileFormatError, match="does not end"):
        serializers.load_hdf5(stream, L.Linear(3, 2), path="a")


def test_hdf5_without_heaps_of_names(tmp_path):
    _with_numbers_like_heaps(tmp_path / "a.h5", libver="v108")


@pytest.mark.parametrize("place", [0, 512, 2048])
def test_hdf5_that_declares_information_of_a_driver(place, tmp_path):
    """The HDF5 library would take 4 GiB for it: found by fuzzing."""
    h5py = pytest.importorskip("h5py")
    model = L.Linear(3, 2)
    with h5py.File(tmp_path / "a.h5", "w", libver="earliest", userblock_size=place) as file:
        serializers.HDF5Serializer(file).save(model)
    content = bytearray(bytes(place) + (tmp_path / "a.h5").read_bytes()[place:])
    assert content[place + 8] == 0 and content[place + 48 : place + 56] == b"\xff" * 8
    (tmp_path / "a.h5").write_bytes(content)
    loaded = L.Linear(3, 2)
    serializers.load_hdf5(tmp_path / "a.h5", loaded)
    np.testing.assert_array_equal(loaded.W.array, model.W.array)
    # The first bytes of the free space, taken for information of 4 GiB.
    struct.pack_into("<Q", content, place + 48, len(content) - place)
    content += bytes([0, 0, 0, 0, 255, 255, 255, 255]) + bytes(100)
    for source in (tmp_path / "a.h5", io.BytesIO(content)):
        if not isinstance(source, io.BytesIO):
            source.write_bytes(content)
        with pytest.raises(FileFormatError, match="declares 4,294,967,295 bytes for its driver"):
            serializers.load_hdf5(source, loaded)
    struct.pack_into("<Q", content, place + 48, 1 << 40)
    with pytest.raises(FileFormatError, match="declares 0 bytes for its driver at byte"):
        serializers.load_hdf5(io.BytesIO(content), loaded)


def test_header_of_an_array_in_npz(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("W.npy", b"\x93NUMPY\x02\0" + struct.pack("<I", 0xFFFFFFF0) + bytes(10**6))
    with pytest.raises(FileFormatError, match="its header has 4294967280 bytes"):
        serializers.load_npz(tmp_path / "a.npz", L.Linear(3, 2))


def test_many_names_of_one_member_in_npz(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.npy", bytes(1000))
        info = archive.getinfo("0.npy")
        for i in range(1, 1000):
            other = zipfile.ZipInfo(f"{i}.npy")
            for name in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(other, name, getattr(info, name))
            archive.filelist.append(other)
    (tmp_path / "a.npz").write_bytes(stream.getvalue())
    with pytest.raises(FileFormatError, match="overlaps another entry"):
        serializers.load_npz(tmp_path / "a.npz", L.Linear(3, 2))


@pytest.mark.parametrize("header", [b'{"a":' * 100_000, b"[" * 100_000, None])
def test_header_of_safetensors(header, tmp_path):
    """Brackets, and a length of a terabyte."""
    content = struct.pack("<Q", 1 << 40) if header is None else struct.pack("<Q", len(header))
    (tmp_path / "a").write_bytes(content + (header or b""))
    with pytest.raises(FileFormatError, match="not a file of safetensors"):
        serializers.load_safetensors(tmp_path / "a", L.Linear(3, 2))


def test_tensors_that_share_bytes(tmp_path):
    entries = {
        str(i): {"dtype": "F32", "shape": [1000], "data_offsets": [0, 4000]} for i in range(3)
    }
    header = json.dumps(entries).encode()
    (tmp_path / "a").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4000))
    with pytest.raises(FileFormatError, match="its tensors overlap"):
        serializers.load_safetensors(tmp_path / "a", L.Linear(3, 2))
