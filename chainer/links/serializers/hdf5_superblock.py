"""The first block of an HDF5 file, checked before the HDF5 library reads it.

The block declares a size for information of a driver. The library takes so much memory, up to
4 GiB, before it looks whether the file has so many bytes. Section II of the `HDF5 File Format
Specification <https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html>`_ describes it.
"""

from __future__ import annotations

import os
from typing import IO

from chainer.links.serializers.file_format import FileFormatError

_SIGNATURE = b"\x89HDF\r\n\x1a\n"

#: The block begins at byte 0, or at 512, 1024, 2048 ..., behind bytes of the user.
_FIRST_PLACE = 512

#: Position of the addresses in the block, by version. Later versions have a checksum and nothing
#: about drivers.
_ADDRESSES = {0: 24, 1: 28}

#: Number among the addresses: the block itself, free space, the end of the file, the driver's
#: information.
_DRIVER = 3

#: Bytes before the driver's information: version, three of no meaning, size, name.
_DRIVER_HEADER = 16


def check_superblock(stream: IO[bytes], source: str) -> None:
    """Compares the size of a driver's information with the size of the file.

    Args:
        stream: The file. Its position is the same afterwards.
        source: Name of the file, for messages.

    Raises:
        FileFormatError: If the file is shorter than the block says.
    """
    before = stream.tell()
    try:
        found = find_superblock(stream)
        if found is not None:
            place, block = found
            _check_driver(stream, block, place, stream.seek(0, os.SEEK_END), source)
    finally:
        stream.seek(before)


def find_superblock(stream: IO[bytes]) -> tuple[int, bytes] | None:
    """Returns the position of the first block and its first 128 bytes; None if there is none.

    Args:
        stream: The file. Its position changes.
    """
    size = stream.seek(0, os.SEEK_END)
    place = 0
    while place < size:
        stream.seek(place)
        block = stream.read(128)
        if block.startswith(_SIGNATURE):
            return place, block
        place = max(2 * place, _FIRST_PLACE)
    return None


def _check_driver(stream: IO[bytes], block: bytes, place: int, size: int, source: str) -> None:
    start = _ADDRESSES.get(block[8]) if len(block) > 13 else None
    if start is None:
        return
    width = block[13]  # bytes of an address
    address = block[start + _DRIVER * width :][:width]
    if address == b"\xff" * width:  # no driver's information, as in all usual files
        return
    # Addresses count from the block, wherever it says that it is.
    position = place + int.from_bytes(address, "little")
    stream.seek(min(position, size))
    declared = int.from_bytes(stream.read(_DRIVER_HEADER)[4:8], "little")
    if position + _DRIVER_HEADER + declared > size:
        raise FileFormatError(
            f"{source} is damaged: it declares {declared:,} bytes for its driver at byte "
            f"{position:,}, and has {size:,} bytes in all"
        )
