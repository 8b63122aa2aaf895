"""Heaps of names in an HDF5 file, checked before the HDF5 library reads them.

A group has the names of its members in a heap, whose free parts are a list. The library follows the
list in memory that grows by each part, and does not notice one that leads back to itself: it takes
all memory of the machine. Section III.D of the `HDF5 File Format Specification
<https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html>`_ describes local heaps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

from chainer.links.serializers.file_format import FileFormatError
from chainer.links.serializers.hdf5_superblock import find_superblock

_SIGNATURE = b"HEAP"

#: Bytes that are searched at a time.
_AT_ONCE = 1 << 20

#: Positions of the bytes of the first block that tell how wide addresses are, by version. The next
#: byte tells how wide lengths are.
_WIDTHS = {0: 13, 1: 13, 2: 9, 3: 9}

#: The position that ends a list of free parts.
_END = 1


def check_heaps(stream: IO[bytes], source: str) -> None:
    """Follows the lists of free parts of all heaps of names.

    Args:
        stream: The file. Its position is the same afterwards.
        source: Name of the file, for messages.

    Raises:
        FileFormatError: If a list has more parts than fit into the file.
    """
    before = stream.tell()
    try:
        found = find_superblock(stream)
        if found is None:
            return
        place, block = found
        where = _WIDTHS.get(block[8]) if len(block) > 16 else None
        if where is None:
            return
        address_width, length_width = block[where], block[where + 1]
        if not (0 < address_width <= 32 and 0 < length_width <= 32):
            return  # the library refuses such a file
        size = stream.seek(0, os.SEEK_END)
        # All heaps together: parts do not share bytes, each has its length and the next position.
        left = size // (2 * length_width) + 1
        for start in _places_of(_SIGNATURE, stream):
            stream.seek(start + len(_SIGNATURE))
            header = stream.read(4 + 2 * length_width + address_width)
            if len(header) < 4 + 2 * length_width + address_width or header[0]:
                continue
            length, part = (_number(header, 4 + k * length_width, length_width) for k in (0, 1))
            data = place + _number(header, 4 + 2 * length_width, address_width)
            if data + length > size:
                continue  # no heap, but numbers that resemble one; or the library refuses it
            while part != _END and part + length_width <= length:
                left -= 1
                if left < 0:
                    raise FileFormatError(
                        f"{source} is damaged: the list of free parts of its heap at byte "
                        f"{start:,} does not end"
                    )
                stream.seek(data + part)
                part = _number(stream.read(length_width), 0, length_width)
    finally:
        stream.seek(before)


def _number(content: bytes, start: int, width: int) -> int:
    return int.from_bytes(content[start : start + width], "little")


def _places_of(pattern: bytes, stream: IO[bytes]) -> Iterator[int]:
    """Finds the positions of a pattern in a file, whose position may change between them."""
    begin, rest = 0, b""
    while True:
        stream.seek(begin + len(rest))
        chunk = stream.read(_AT_ONCE)
        if not chunk:
            return
        content = rest + chunk
        found = content.find(pattern)
        while found >= 0:
            yield begin + found
            found = content.find(pattern, found + 1)
        # The pattern may begin in one chunk and end in the next.
        rest = content[-len(pattern) + 1 :]
        begin += len(content) - len(rest)
