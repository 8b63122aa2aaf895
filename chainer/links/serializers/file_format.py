"""One error and the checks of declared sizes, shared by the readers of all file formats."""

from __future__ import annotations

import errno
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from chainer.core.arguments import require_attribute

#: Errors that parsers (zipfile, json, ast, NumPy's reader of headers, ...) raise for damaged bytes.
#: All of them were seen with files that had random bytes replaced.
PARSER_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError, SyntaxError),
    *(TypeError, AttributeError, LookupError, ArithmeticError, NotImplementedError),
    *(RecursionError, tokenize.TokenError),
)

#: Deflate cannot expand data by more than this factor; a larger declared size is forged.
MAX_DEFLATE_RATIO = 1032

#: Bytes in front of the checksum at the end of a file.
_TRAILER = b"chainer crc32 "


class FileFormatError(ValueError):
    """A file is damaged, or is not of the expected format.

    All readers raise it: of NPZ files and snapshots, HDF5, safetensors, Caffe models and ONNX.
    """


@contextmanager
def format_errors(message: str, *more: type[Exception]) -> Iterator[None]:
    """Turns what parsers raise for damaged bytes into a :class:`FileFormatError`.

    System errors, such as a failing disk, are not converted.

    Args:
        message: Begin of the message. The text of the error follows.
        more: Further classes of errors that the parser raises.
    """
    try:
        yield
    except FileFormatError:
        raise
    except (*PARSER_ERRORS, *more) as error:
        raise FileFormatError(f"{message}: {error}") from error
    except OSError as error:
        # A position before the begin of the file, which a damaged offset leads to.
        if error.errno != errno.EINVAL:
            raise
        raise FileFormatError(f"{message}: {error}") from error


def checksum_trailer(contents: bytes | memoryview) -> bytes:
    """Returns the bytes that follow the contents of a file whose format has no checksum.

    Args:
        contents: All bytes of the file.
    """
    return _TRAILER + f"{zlib.crc32(contents):08x}".encode()


def resembles(data: bytes, expected: bytes) -> bool:
    """Returns whether bytes are probably others that were damaged.

    Args:
        data: The bytes.
        expected: The bytes that a correct file has, of the same length.
    """
    same = sum([a == b for a, b in zip(data, expected, strict=False)])
    return 2 * same >= len(expected)


def check_trailer(stream: IO[bytes], source: str) -> None:
    """Compares the checksum at the end of a file; files without one are accepted.

    Args:
        stream: The file. Its position is the same afterwards.
        source: Name of the file, for messages.

    Raises:
        FileFormatError: If the file is damaged.
    """
    require_attribute("filename", stream, "seek", "a path or a binary file object")
    before = stream.tell()
    try:
        size = stream.seek(0, os.SEEK_END)
        length = len(_TRAILER) + 8
        if size < length:
            return
        stream.seek(size - length)
        trailer = stream.read(length)
        if not trailer.startswith(_TRAILER):
            if resembles(trailer[: len(_TRAILER)], _TRAILER):
                raise FileFormatError(f"{source} is damaged: so is its checksum")
            return
        stream.seek(0)
        checksum, left = 0, size - length
        while left > 0:
            chunk = stream.read(min(left, 1 << 20))
            if not chunk:
                break
            checksum = zlib.crc32(chunk, checksum)
            left -= len(chunk)
        if f"{checksum:08x}".encode() != trailer[len(_TRAILER) :]:
            raise FileFormatError(f"{source} is damaged: its checksum differs from its contents")
    finally:
        stream.seek(before)


def describe_source(file: object) -> str:
    """Returns the name of a file (path or object) for error messages."""
    name = file if isinstance(file, (str, bytes, os.PathLike)) else getattr(file, "name", None)
    return repr(os.fspath(name)) if isinstance(name, (str, bytes, os.PathLike)) else repr(file)


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
