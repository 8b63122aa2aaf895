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
from typing import IO, Any

import numpy

from chainer.core.arguments import require_attribute
from chainer.core.installation import install_command
from chainer.core.typing import FilePath, HostArray
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
    "BF16": "bfloat16",
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}

_CHECKSUM = "chainer_crc32"
_CHUNK = 1 << 20
#: Text in the place of the checksum while the checksum is computed.
_NO_CHECKSUM = "--------"

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
    # Spaces at the end align the data to eight bytes.
    text += b" " * (-len(text) % 8)
    checksum = zlib.crc32(text)
    for array in data:
        checksum = zlib.crc32(array.reshape(-1).view(numpy.uint8).data, checksum)
    text = text.replace(_NO_CHECKSUM.encode(), f"{checksum:08x}".encode(), 1)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for array in data:
            file.write(array.tobytes())


def _type_name(name: str, dtype: Any) -> str:
    # NumPy's code of types of other packages, such as bfloat16, tells nothing but their size.
    code = "?" if dtype.kind == "b" else dtype.str.replace("|", "")
    found = _NAMES.get("bfloat16" if dtype.name == "bfloat16" else code)
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
    source = describe_source(file)
    if isinstance(file, (str, os.PathLike)):
        if os.path.getsize(file) < 8:
            raise FileFormatError(
                f"{source} is not a file of safetensors: it has less than 8 bytes"
            )
        data = numpy.memmap(file, dtype=numpy.uint8, mode="r")
    else:
        require_attribute("file", file, "read", "a path or a binary file object")
        data = numpy.frombuffer(file.read(), numpy.uint8)
    with format_errors(f"{source} is not a file of safetensors"):
        return _parse(data)


def _parse(data: HostArray) -> tuple[dict[str, HostArray], dict[str, str]]:
    if data.size < 8:
        raise ValueError("it has less than 8 bytes")
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > min(_LONGEST_HEADER, data.size - 8):
        raise ValueError(f"its header has {length} bytes, but the file {data.size}")
    text = data[8 : 8 + length].tobytes()
    _check(text, data[8 + length :])
    header = json.loads(text.decode())
    metadata = header.pop("__metadata__", {})
    body = data[8 + length :]
    arrays: dict[str, HostArray] = {}
    used: list[tuple[int, int]] = []
    for name, entry in header.items():
        begin, end = (int(n) for n in entry["data_offsets"])
        shape = tuple([int(n) for n in entry["shape"]])
        dtype = _dtype(name, entry["dtype"])
        if not 0 <= begin <= end <= body.size:
            raise ValueError(f"{name!r} has the bytes {begin} to {end}, of {body.size}")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != end - begin:
            raise ValueError(f"{name!r} has {end - begin} bytes, but dtype {dtype} and {shape}")
        used.append((begin, end))
        part = body[begin:end]
        # A view needs aligned elements; files of other writers may have others.
        aligned = part.ctypes.data % dtype.alignment == 0
        array = (part if aligned else part.copy()).view(dtype).reshape(shape)
        array.flags.writeable = False
        arrays[name] = array
    used.sort()
    if any([a[1] > b[0] for a, b in itertools.pairwise(used)]):
        raise ValueError("its tensors overlap")
    if sum([end - begin for begin, end in used]) != body.size:
        raise ValueError("its tensors do not fill the file")
    return arrays, {str(key): str(value) for key, value in metadata.items()}


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


def _dtype(name: str, type_name: Any) -> Any:
    if type_name not in _DTYPES:
        raise ValueError(f"{name!r} has the unknown type {type_name!r}")
    if type_name != "BF16":
        return numpy.dtype(_DTYPES[type_name])
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(
            f"{name!r} is of bfloat16, which needs ml_dtypes: {install_command('ml_dtypes')}"
        ) from error
    return numpy.dtype(ml_dtypes.bfloat16)
