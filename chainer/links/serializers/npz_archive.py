"""Reading and writing NPZ archives, strictly.

A file is checked here before any of it reaches a model: the central directory, sizes, checksums and
the header of each array. Nothing is ever unpickled.
"""

from __future__ import annotations

import ast
import math
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, cast

import numpy
from numpy.lib import format as npy_format

from chainer.core.typing import DType, FilePath, HostArray
from chainer.links.serializers.file_format import (
    MAX_DEFLATE_RATIO,
    FileFormatError,
    check_fits_memory,
    describe_source,
    format_errors,
)
from chainer.links.serializers.pickled_none import NONE_NPY, is_pickled_none

__all__ = [
    "FileFormatError",
    "NpzArchive",
    "check_npz",
    "describe_source",
    "is_none",
    "read_npz",
    "write_npz",
]

_CHUNK = 1 << 20
_SUFFIX = ".npy"
#: Longest text of the header of an array, as in NumPy.
_LONGEST_HEADER = 10_000


def is_none(array: object) -> bool:
    """Returns whether an array represents None in a file: a 0-dimensional object array of None."""
    return (
        isinstance(array, numpy.ndarray)
        and array.dtype == object
        and array.shape == ()
        and array.item() is None
    )


def write_npz(
    file: FilePath | IO[bytes], arrays: Mapping[str, HostArray], compression: bool
) -> None:
    """Writes arrays to an NPZ file.

    Args:
        file: Name of the file, or an object to write bytes to.
        arrays: Arrays by key. Of object arrays only the stored form of None is allowed.
        compression: Whether to compress (deflate) the arrays.

    Raises:
        TypeError: If an array holds Python objects.
    """
    try:
        _write_members(file, arrays, zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED)
    except ValueError as error:
        # An archive with a member that is being written cannot be closed. That error must not hide
        # the interrupt (Ctrl-C, for example) that led to it.
        interrupt = error.__context__
        if interrupt is None or isinstance(interrupt, Exception):
            raise
        raise interrupt from None


def _write_members(
    file: FilePath | IO[bytes], arrays: Mapping[str, HostArray], method: int
) -> None:
    with zipfile.ZipFile(file, "w", method, allowZip64=True) as archive:
        for key, array in arrays.items():
            # The date is fixed: equal contents make equal files.
            info = zipfile.ZipInfo(key + _SUFFIX, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            info.external_attr = 0o600 << 16
            with archive.open(info, "w", force_zip64=array.nbytes > 1 << 30) as stream:
                _write_array(cast("IO[bytes]", stream), key, numpy.asanyarray(array))


def _write_array(stream: IO[bytes], key: str, array: HostArray) -> None:
    if is_none(array):
        stream.write(NONE_NPY)
    elif array.dtype.hasobject:
        raise TypeError(
            f"value of {key!r} must be an array or a scalar to be saved, "
            f"got Python objects (an array of dtype {array.dtype})"
        )
    else:
        npy_format.write_array(stream, array, allow_pickle=False)


class NpzArchive(Mapping[str, HostArray]):
    """The arrays of an NPZ file by name, each of them read when it is asked for.

    The directory of the file is checked when the object is made, the header of an array by
    :meth:`declared`, and all of an array when it is read.

    Args:
        file: Name of the file, or a seekable object to read bytes from.

    Raises:
        FileFormatError: If the file is truncated, damaged or not an NPZ file.
        OSError: If the file cannot be opened.
    """

    def __init__(self, file: FilePath | IO[bytes]) -> None:
        self._file = file
        self._names_checked = False
        self.source = describe_source(file)
        with format_errors(
            f"{self.source} is not a complete NPZ file. It may have been truncated while it "
            "was written or copied, or be of another format"
        ):
            self._zip = zipfile.ZipFile(file)
        try:
            with format_errors(f"the directory of {self.source} is damaged"):
                _check_directory(self._zip, self.source)
        except BaseException:
            self._zip.close()
            raise
        self._infos = {
            info.filename.removesuffix(_SUFFIX): info
            for info in self._zip.infolist()
            if info.filename.endswith(_SUFFIX)
        }

    def __enter__(self) -> NpzArchive:
        return self

    def __exit__(self, *args: object) -> None:
        self._zip.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __contains__(self, key: object) -> bool:
        return key in self._infos

    def declared(self, key: str) -> tuple[tuple[int, ...], DType]:
        """Returns the shape and the dtype that an array declares, without unpacking it.

        Args:
            key: Name of the array.
        """
        info = self._infos[key]
        with format_errors(self._damaged(info)), self._open(info) as stream:
            shape, _, dtype = _read_header(stream, info.file_size)
        return shape, dtype

    def __getitem__(self, key: str) -> HostArray:
        info = self._infos[key]
        check_fits_memory(info.file_size, f"entry {info.filename!r} of {self.source}")
        with format_errors(self._damaged(info)), self._open(info) as stream:
            array = _read_array(stream, info.file_size)
            # Reading on at the end makes zipfile compare the checksum.
            if stream.read(1):
                raise ValueError("more data than its header declares")
            return array

    def check(self) -> None:
        """Checks headers and checksums of all arrays, in little memory.

        Raises:
            FileFormatError: If one is damaged; the message names the file and the entry.
        """
        for info in self._infos.values():
            with format_errors(self._damaged(info)), self._open(info) as stream:
                _read_header(stream, info.file_size)
                while stream.read(_CHUNK):
                    pass

    def check_names(self) -> None:
        """Compares the names in the directory with the names in front of the entries.

        A name that is missing may be one that was damaged.

        Raises:
            FileFormatError: If a name differs.
        """
        if self._names_checked:
            return
        for info in self._zip.infolist():
            # Opening an entry compares its two names.
            with format_errors(self._damaged(info)), self._open(info):
                pass
        self._names_checked = True

    def _open(self, info: zipfile.ZipInfo) -> IO[bytes]:
        if self._zip.fp is None:
            # A deserializer may outlive the load it was made for, as in tests with mock objects.
            self._zip = zipfile.ZipFile(self._file)
        return self._zip.open(info)

    def _damaged(self, info: zipfile.ZipInfo) -> str:
        return f"entry {info.filename!r} of {self.source} is damaged"


def check_npz(file: FilePath | IO[bytes]) -> None:
    """Checks headers and checksums of all arrays of an NPZ file, in little memory.

    Args:
        file: Name of the file, or a seekable object to read bytes from.

    Raises:
        FileFormatError: If it is damaged, or not an NPZ file.
        OSError: If the file cannot be read.
    """
    with NpzArchive(file) as archive:
        archive.check()


def read_npz(
    file: FilePath | IO[bytes], wanted: Callable[[str], bool] = lambda key: True
) -> dict[str, HostArray]:
    """Reads arrays from an NPZ file after checking all of it that is read.

    Args:
        file: Name of the file, or a seekable object to read bytes from.
        wanted: Function that returns by its key whether an array is to be read.

    Returns:
        Arrays by key; None is an object array of shape ``()``.

    Raises:
        FileFormatError: If the file is truncated, damaged, no NPZ file, inconsistent, or holds
            pickled objects; the message names the file and the entry.
        OSError: If the file cannot be opened.
    """
    with NpzArchive(file) as archive:
        infos = {key: info for key, info in archive._infos.items() if wanted(key)}
        total = sum(info.file_size for info in infos.values())
        check_fits_memory(total, f"contents of {archive.source}")
        return {key: archive[key] for key in infos}


def _check_directory(archive: zipfile.ZipFile, source: str) -> None:
    _check_count(archive)
    end = archive.start_dir
    seen: set[str] = set()
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset, reverse=True):
        where = f"entry {info.filename!r} of {source}"
        if info.filename in seen:
            raise FileFormatError(f"{where} occurs twice")
        seen.add(info.filename)
        if info.flag_bits & 1:
            raise FileFormatError(f"{where} is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(
                f"{where} is compressed by method {info.compress_type}, which NPZ files do not use"
            )
        if info.header_offset < 0 or info.header_offset + 30 + info.compress_size > end:
            raise FileFormatError(f"{where} overlaps another entry or the end of the file")
        end = info.header_offset
        limit = info.compress_size
        if info.compress_type == zipfile.ZIP_DEFLATED:
            limit = limit * MAX_DEFLATE_RATIO + 64
        if info.file_size > limit:
            raise FileFormatError(
                f"{where} declares {info.file_size} bytes, more than its {info.compress_size} "
                "compressed bytes can hold"
            )


def _check_count(archive: zipfile.ZipFile) -> None:
    """Compares the directory with the end record, more strictly than zipfile does."""
    stream = cast("IO[bytes]", archive.fp)
    stream.seek(-22 - len(archive.comment), os.SEEK_END)
    signature, *_, count, _, offset, _ = struct.unpack("<4s4H2LH", stream.read(22))
    found = len(archive.infolist())
    # More entries than the field can hold are counted in another record.
    if signature != b"PK\5\6" or count != min(found, 0xFFFF):
        raise ValueError(f"it has {found} entries, its end record says {count}")
    # zipfile accepts other data in front of the archive, and so an empty archive after anything.
    if offset not in (archive.start_dir, 0xFFFFFFFF):
        raise ValueError(f"its directory is at {archive.start_dir}, its end record says {offset}")


def _read_header(stream: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, DType]:
    """Returns shape, order and dtype of an array, after comparing them with the size.

    Args:
        stream: At the begin of the entry. Afterwards it is at the first element.
        size: Size of the whole entry in bytes.
    """
    header = _parse_header(stream)
    shape, fortran_order = header["shape"], header["fortran_order"]
    if not isinstance(shape, tuple) or any([type(length) is not int for length in shape]):
        raise ValueError(f"its shape is {shape!r}")
    if type(fortran_order) is not bool:
        raise ValueError(f"its fortran_order is {fortran_order!r}")
    dtype = npy_format.descr_to_dtype(header["descr"])
    if any(length < 0 for length in shape):
        raise ValueError(f"negative length in shape {shape}")
    if dtype.itemsize == 0 and math.prod(shape) > 1:
        raise ValueError(f"shape {shape} of elements without bytes")  # any shape takes no bytes
    if not dtype.hasobject:
        # Use math.prod, because Python's integers do not overflow. numpy.prod can.
        expected = math.prod(shape) * dtype.itemsize
        left = size - stream.tell()
        if expected != left:
            raise ValueError(f"shape {shape} of {dtype} takes {expected} bytes, not {left}")
    return shape, fortran_order, dtype


def _parse_header(stream: IO[bytes]) -> dict[str, Any]:
    """Returns the dictionary that an entry begins with, which has the three keys of the format."""
    version = npy_format.read_magic(stream)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version} of the NPY format is not supported")
    form = "<H" if version == (1, 0) else "<I"
    (length,) = struct.unpack(form, stream.read(struct.calcsize(form)))
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length} bytes")
    text = stream.read(length).decode("utf-8" if version == (3, 0) else "latin1")
    # Python 2 wrote lengths as 3L.
    header = ast.literal_eval(re.sub(r"(?<=\d)L\b", "", text).strip())
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"its header is {text.strip()!r}")
    return header


def _read_array(stream: IO[bytes], size: int) -> HostArray:
    shape, fortran_order, dtype = _read_header(stream, size)
    if dtype.hasobject:
        return _read_none(stream, shape)
    left = size - stream.tell()
    array: HostArray = numpy.empty(shape[::-1] if fortran_order else shape, dtype)
    if left:
        buffer = memoryview(cast("Any", array.reshape(-1).view(numpy.uint8)))
        for start in range(0, left, _CHUNK):
            chunk = buffer[start : start + _CHUNK]
            if stream.readinto(chunk) != len(chunk):  # type: ignore[attr-defined]
                raise EOFError("data ends early")
    return array.transpose() if fortran_order else array


def _read_none(stream: IO[bytes], shape: tuple[int, ...]) -> HostArray:
    if shape == () and is_pickled_none(stream.read(4096)):
        return numpy.array(None, dtype=object)
    raise ValueError(
        "it holds pickled Python objects, which are never unpickled here because that can run any "
        "code. If you trust the file, read it with numpy.load(file, allow_pickle=True) and save "
        "its contents as arrays"
    )
