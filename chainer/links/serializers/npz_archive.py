"""Reading and writing NPZ archives, strictly.

A file is checked here before any of it reaches a model: the central directory, sizes, checksums and
the header of each array. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any, cast

import numpy
from numpy.lib import format as npy_format

from chainer.core.typing import FilePath, HostArray
from chainer.links.serializers.pickled_none import NONE_NPY, is_pickled_none

#: Deflate cannot expand data by more than this factor; a larger declared size is forged.
_MAX_DEFLATE_RATIO = 1032
_CHUNK = 1 << 20
_SUFFIX = ".npy"


class FileFormatError(ValueError):
    """A file is damaged, or is not of the expected format."""


def describe_source(file: object) -> str:
    """Returns the name of a file (path or object) for error messages."""
    name = file if isinstance(file, (str, bytes, os.PathLike)) else getattr(file, "name", None)
    return repr(os.fspath(name)) if isinstance(name, (str, bytes, os.PathLike)) else repr(file)


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
    method = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
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
    source = describe_source(file)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, struct.error, EOFError, NotImplementedError) as error:
        raise FileFormatError(
            f"{source} is not a complete NPZ file: {error}. It may have been truncated while it "
            "was written or copied, or be of another format"
        ) from error
    with archive:
        _check_directory(archive, source)
        infos = {
            info.filename.removesuffix(_SUFFIX): info
            for info in archive.infolist()
            if info.filename.endswith(_SUFFIX)
        }
        infos = {key: info for key, info in infos.items() if wanted(key)}
        _check_total(infos.values(), source)
        return {key: _read_member(archive, info, source) for key, info in infos.items()}


def _check_directory(archive: zipfile.ZipFile, source: str) -> None:
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
        if info.header_offset + 30 + info.compress_size > end:
            raise FileFormatError(f"{where} overlaps another entry or the end of the file")
        end = info.header_offset
        limit = info.compress_size
        if info.compress_type == zipfile.ZIP_DEFLATED:
            limit = limit * _MAX_DEFLATE_RATIO + 64
        if info.file_size > limit:
            raise FileFormatError(
                f"{where} declares {info.file_size} bytes, more than its {info.compress_size} "
                "compressed bytes can hold"
            )


def _check_total(infos: Any, source: str) -> None:
    total = sum(info.file_size for info in infos)
    check_fits_memory(total, f"contents of {source}")


def check_fits_memory(nbytes: int, what: str) -> None:
    """Raises FileFormatError if data declares a size that this machine cannot hold.

    Args:
        nbytes: Declared size in bytes.
        what: Name of the data for the message.

    Raises:
        FileFormatError: If the size exceeds the physical memory.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system: the allocation will tell
        return
    if nbytes > memory > 0:
        raise FileFormatError(
            f"{what} would take {nbytes / 1e9:.1f} GB, this machine has {memory / 1e9:.1f} GB"
        )


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: str) -> HostArray:
    try:
        with archive.open(info) as stream:
            array = _read_array(cast("IO[bytes]", stream), info.file_size)
            # Reading on at the end makes zipfile compare the checksum.
            if stream.read(1):
                raise ValueError("more data than its header declares")
            return array
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError),
        *(SyntaxError, TypeError, NotImplementedError, RecursionError),
    ) as error:
        raise FileFormatError(f"entry {info.filename!r} of {source} is damaged: {error}") from error


def _read_array(stream: IO[bytes], size: int) -> HostArray:
    version = npy_format.read_magic(stream)
    if version == (1, 0):
        shape, fortran_order, dtype = npy_format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran_order, dtype = npy_format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version {version} of the NPY format is not supported")
    if dtype.hasobject:
        return _read_none(stream, shape)
    if any(length < 0 for length in shape):
        raise ValueError(f"negative length in shape {shape}")
    count = 1
    for length in shape:
        count *= length
    left = size - stream.tell()
    if count * dtype.itemsize != left:
        raise ValueError(
            f"shape {shape} of {dtype} takes {count * dtype.itemsize} bytes, not {left}"
        )
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
