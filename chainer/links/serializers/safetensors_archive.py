"""The file format safetensors: a header in JSON, then the bytes of all tensors.

See https://github.com/huggingface/safetensors for the format. It is simple enough to be read here,
so that no package is needed, and every number of the header is checked before it is used.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import zlib
from collections.abc import Mapping
from typing import IO, Any, Literal, NamedTuple

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.installation import install_command
from chainer.core.typing import DType, FilePath, HostArray
from chainer.links.serializers.file_format import (
    FileFormatError,
    describe_source,
    format_errors,
    resembles,
)

#: Name of a type in the header -> dtype of NumPy.
_DTYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
}
#: Name of a type in the header -> dtype of the package ml_dtypes.
_EXTENDED_DTYPES = {
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
}
_NAMES = {dtype: name for name, dtype in (_DTYPES | _EXTENDED_DTYPES).items()}

_CHECKSUM = "chainer_crc32"
_CHUNK = 1 << 20
#: Text in the place of the checksum while the checksum is computed.
_NO_CHECKSUM = "--------"

#: Bytes of the length of the header, at the begin of a file.
_LENGTH_BYTES = 8

#: Bytes of a line of the cache. Mapped files begin at a page, so that large arrays begin at a line,
#: too. A product of NumPy with a vector that reads weights of GPT-2 small takes 4 to 11 % more time
#: where they begin 24 bytes after a line (AMD EPYC with AVX2, one thread, quiet, in turns).
_LINE_BYTES = 64

#: Dimensions that an array of NumPy has at most.
_MAX_NDIM = 64

#: Longest header that is read, as in the original implementation: others are not of this format.
_LONGEST_HEADER = 100_000_000


def write_safetensors(
    path: FilePath, arrays: Mapping[str, HostArray], metadata: Mapping[str, str]
) -> None:
    """Writes a file.

    Args:
        path: Path of the file.
        arrays: The tensors by name.
        metadata: Texts by name.

    Raises:
        TypeError: If the format has no type for a dtype.
    """
    # The format has no checksum, so that one is kept in the metadata. Its place is in front: what
    # is there is what was written here.
    header: dict[str, Any] = {"__metadata__": {_CHECKSUM: _NO_CHECKSUM, **metadata}}
    data: list[HostArray] = []
    offset = 0
    # Large elements first: then each tensor is aligned to its elements, and can be mapped.
    for name in sorted(arrays, key=lambda key: (-arrays[key].dtype.itemsize, key)):
        array = numpy.asarray(arrays[name], order="C")
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        header[name] = {
            "dtype": _type_name(name, array.dtype),
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        data.append(array)
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    # Spaces at the end let the data begin at a line of the cache.
    text += b" " * (-(_LENGTH_BYTES + len(text)) % _LINE_BYTES)
    checksum = zlib.crc32(text)
    for array in data:
        checksum = zlib.crc32(array.reshape(-1).view(numpy.uint8).data, checksum)
    text = text.replace(_NO_CHECKSUM.encode(), f"{checksum:08x}".encode(), 1)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(_LENGTH_BYTES, "little"))
        file.write(text)
        for array in data:
            file.write(array.tobytes())


def _type_name(name: str, dtype: Any) -> str:
    # NumPy's code of types of other packages, such as bfloat16, tells nothing but their size.
    code = "?" if dtype.kind == "b" else dtype.str.replace("|", "")
    found = _NAMES.get(dtype.name if dtype.name in _EXTENDED_DTYPES.values() else code)
    if found is None:
        raise TypeError(f"safetensors has no type for {name!r} of dtype {dtype}")
    return found


def read_safetensors(
    file: FilePath | IO[bytes],
) -> tuple[dict[str, HostArray], dict[str, str]]:
    """Reads a file. Tensors of a file given by its path are mapped: read when they are used.

    Args:
        file: Path, or file object.

    Returns:
        tuple: The tensors, read-only, and the metadata.

    Raises:
        FileFormatError: If the file is damaged, truncated or of another format.
    """
    if isinstance(file, (str, os.PathLike)):
        data = map_file(file)
    else:
        require_attribute("file", file, "read", "a path or a binary file object")
        data = numpy.frombuffer(file.read(), numpy.uint8)
    with format_errors(f"{describe_source(file)} is not a file of safetensors"):
        header = parse_header(data)
        _check(header.text, data[header.start :])
        arrays: dict[str, HostArray] = {}
        for name, entry in header.entries.items():
            array = view_tensor(data, header, name, entry)
            array.flags.writeable = False
            arrays[name] = array
    return arrays, header.metadata


def map_file(file: FilePath, mode: Literal["r", "c"] = "r") -> HostArray:
    """Maps the bytes of a file into memory.

    Args:
        file: Path of the file.
        mode: ``"r"``, or ``"c"`` for memory that may be changed, which does not change the file.

    Raises:
        FileFormatError: If the file is too short to be of the format.
    """
    if os.path.getsize(file) < 8:
        raise FileFormatError(
            f"{describe_source(file)} is not a file of safetensors: it has less than 8 bytes"
        )
    # Not a numpy.memmap: a view of this class costs time in every operation.
    return numpy.memmap(file, dtype=numpy.uint8, mode=mode).view(numpy.ndarray)


class Entry(NamedTuple):
    """A tensor as the header describes it.

    Attributes:
        type_name: Name of its type.
        shape: Its shape.
        begin: Index of its first byte, counted from the end of the header.
        end: Index after its last byte.
    """

    type_name: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """The header of a file.

    Attributes:
        text: Its bytes.
        start: Index of the first byte after it.
        entries: The tensors by name.
        metadata: Texts by name.
    """

    text: bytes
    start: int
    entries: dict[str, Entry]
    metadata: dict[str, str]


def parse_header(data: HostArray) -> Header:
    """Reads the header of a file, and checks every number in it.

    Args:
        data: The bytes of the file.

    Raises:
        ValueError: If something in it is wrong; a caller adds the name of the file.
    """
    if data.size < 8:
        raise ValueError("it has less than 8 bytes")
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > min(_LONGEST_HEADER, data.size - 8):
        raise ValueError(f"its header has {length} bytes, but the file {data.size}")
    text = data[8 : 8 + length].tobytes()
    values = json.loads(text.decode(), object_pairs_hook=_object)
    if not isinstance(values, dict):
        raise ValueError(f"its header must be an object, not {type(values).__name__}")
    metadata = values.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        raise ValueError(f"its metadata must be an object, not {type(metadata).__name__}")
    size = data.size - 8 - length
    entries: dict[str, Entry] = {}
    for name, value in values.items():
        begin, end = _integers(name, "data_offsets", value)
        shape = tuple(_integers(name, "shape", value))
        type_name = value["dtype"]
        itemsize = _item_bits(name, type_name)
        if not 0 <= begin <= end <= size:
            raise ValueError(f"{name!r} has the bytes {begin} to {end}, of {size}")
        if len(shape) > _MAX_NDIM:
            raise ValueError(f"{name!r} has {len(shape)} dimensions, NumPy {_MAX_NDIM} at most")
        if min(shape, default=0) < 0 or math.prod(shape) * itemsize != 8 * (end - begin):
            raise ValueError(f"{name!r} has {end - begin} bytes, but type {type_name} and {shape}")
        entries[name] = Entry(type_name, shape, begin, end)
    used = sorted((entry.begin, entry.end) for entry in entries.values())
    if any([a[1] > b[0] for a, b in itertools.pairwise(used)]):
        raise ValueError("its tensors overlap")
    if sum([end - begin for begin, end in used]) != size:
        raise ValueError("its tensors do not fill the file")
    texts = {str(key): str(value) for key, value in metadata.items()}
    return Header(text, 8 + length, entries, texts)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON, whose keys must differ: readers disagree which of two counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        name = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"{name!r} occurs twice in its header")
    return found


def _integers(name: str, key: str, value: Any) -> list[int]:
    found = value[key]
    if not isinstance(found, list) or any([type(n) is not int for n in found]):
        raise ValueError(f"{key} of {name!r} must be a list of integers, got {found!r:.100}")
    return found


def view_tensor(data: HostArray, header: Header, name: str, entry: Entry) -> HostArray:
    """Returns a tensor as a view of the bytes of the file.

    Args:
        data: The bytes of the file.
        header: Their header.
        name: Name of the tensor, for errors.
        entry: The tensor.
    """
    dtype = dtype_of_type(name, entry.type_name)
    part = data[header.start + entry.begin : header.start + entry.end]
    # A view needs aligned elements; files of other writers may have others.
    aligned = part.ctypes.data % dtype.alignment == 0
    return (part if aligned else part.copy()).view(dtype).reshape(entry.shape)


def _check(text: bytes, body: HostArray) -> None:
    """Compares the checksum, if the file has one."""
    match = re.search(rb'"%s":"([0-9a-f]{8})"' % _CHECKSUM.encode(), text)
    if match is None:
        at = len('{"__metadata__":{')
        key = f'"{_CHECKSUM}":"'.encode()
        if resembles(text[at : at + len(key)], key):
            raise ValueError("it is damaged: so is its checksum")
        return
    begin, end = match.span(1)
    checksum = zlib.crc32(text[:begin] + _NO_CHECKSUM.encode() + text[end:])
    for start in range(0, body.size, _CHUNK):
        checksum = zlib.crc32(body[start : start + _CHUNK].data, checksum)
    if checksum != int(match[1], 16):
        raise ValueError("it is damaged: its checksum differs from its contents")


def _item_bits(name: str, type_name: Any) -> int:
    """Returns the number of bits of an element."""
    if type_name in _DTYPES:
        return 8 * numpy.dtype(_DTYPES[type_name]).itemsize
    if type_name in _EXTENDED_DTYPES:
        return 16 if type_name == "BF16" else 8
    raise ValueError(f"{name!r} has the unknown type {type_name!r}")


def dtype_of_type(name: str, type_name: str) -> DType:
    """Returns the dtype of a type of the format.

    Args:
        name: Name of the tensor, for errors.
        type_name: Name of the type.

    Raises:
        ImportError: If it is a type of the package ml_dtypes, which is not installed.
    """
    if type_name in _DTYPES:
        return numpy.dtype(_DTYPES[type_name])
    wanted = _EXTENDED_DTYPES[type_name]
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(
            f"{name!r} is of {wanted}, which needs ml_dtypes: {install_command('ml_dtypes')}"
        ) from error
    return numpy.dtype(getattr(ml_dtypes, wanted))
