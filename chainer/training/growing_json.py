"""A file with a JSON list that grows at its end."""

from __future__ import annotations

import json
import os
from typing import Any

from chainer.core.utils.atomic_file import replacing

_END = b"\n]"

#: Size of the space that is kept after the list, in bytes; see GrowingJsonFile.
_SPACE = 65536


class GrowingJsonFile:
    """Writes a JSON list to a file, of which only what is new is written later.

    The contents are those of ``json.dump(entries, file, indent=4)``. Whenever another process reads
    the file, and whenever this one is killed, the file is a complete list: with the new entry, or
    without it. If the file was changed or replaced by something else, it is written as a whole.

    JSON allows white space after a list. So the file is longer than the list while it grows: spaces
    follow, which new entries replace. If the file grew with each entry instead, a program that
    reads it in two steps could get the end of the old list and then a part of the new entry.

    A new entry does not wait for the disk. It survives the end of the process, but not a power
    failure in the seconds that follow.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        # How the file was left: number of entries, position of the end of the list, size of the
        # file in bytes, and its identity.
        self._count = 0
        self._end = 0
        self._size = 0
        self._identity: tuple[int, int] | None = None

    def write(self, path: str, entries: list[dict[str, Any]]) -> None:
        """Brings a file up to date.

        Args:
            path: The file. If it is the one of the call before, the entries of that call are
                assumed to be the same.
            entries: The list.
        """
        appended = (
            path == self._path
            and 0 < self._count < len(entries)
            and self._append(entries[self._count :])
        )
        if not appended:
            self._write_all(path, entries)
        self._path = path
        self._count = len(entries)

    def _write_all(self, path: str, entries: list[dict[str, Any]]) -> None:
        self._identity = None
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            json.dump(entries, file, indent=4)
        # What is not a regular file, such as a pipe, has no size that could be checked.
        if os.path.isfile(path):
            status = os.stat(path)
            self._size = status.st_size
            self._end = self._size - len(_END)
            self._identity = status.st_dev, status.st_ino

    def close(self) -> None:
        """Removes the space after the list."""
        descriptor = self._open()
        if descriptor is not None:
            self._size = self._end + len(_END)
            os.ftruncate(descriptor, self._size)
            os.close(descriptor)

    def _open(self) -> int | None:
        """Returns a descriptor of the file; None if it is not as it was left."""
        if self._path is None:
            return None
        # Windows would translate the ends of lines without the flag.
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self._path, flags)
        except OSError:
            return None
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) == self._identity and status.st_size == self._size:
            return descriptor
        os.close(descriptor)
        return None

    def _append(self, entries: list[dict[str, Any]]) -> bool:
        """Writes new entries over the end of the list; returns False if the file is another one."""
        descriptor = self._open()
        if descriptor is None:
            return False
        new = b"".join(b",\n    " + _indented(entry) for entry in entries) + _END
        try:
            missing = self._end + len(new) - self._size
            if missing > 0:
                space = b" " * (missing + _SPACE)
                _write(descriptor, space, self._size)
                self._size += len(space)
            # One operation: a signal that kills the process does not divide it.
            _write(descriptor, new, self._end)
            self._end += len(new) - len(_END)
        finally:
            os.close(descriptor)
        return True


def _write(descriptor: int, data: bytes, position: int) -> None:
    """Writes bytes at a position of a file."""
    os.lseek(descriptor, position, os.SEEK_SET)
    # Usually once. A disk that is almost full may accept a part, and the next call then fails.
    while data:
        data = data[os.write(descriptor, data) :]


def _indented(entry: dict[str, Any]) -> bytes:
    """Returns an entry as ``json.dump`` with an indentation of 4 writes it inside a list."""
    return json.dumps(entry, indent=4).replace("\n", "\n    ").encode()


class EncodedLog:
    """The JSON text of a list that grows, of which only what is new is encoded."""

    def __init__(self) -> None:
        self._encoded: list[str] = []

    def text(self, entries: list[dict[str, Any]]) -> str:
        """Returns the text of a list, whose former entries are assumed to be the same."""
        del self._encoded[len(entries) :]
        self._encoded += map(json.dumps, entries[len(self._encoded) :])
        return f"[{', '.join(self._encoded)}]"
