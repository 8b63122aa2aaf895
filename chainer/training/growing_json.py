"""A file with a JSON list that grows at its end."""

from __future__ import annotations

import json
import os
from typing import Any

from chainer.core.utils.atomic_file import replacing

_END = b"\n]"


class GrowingJsonFile:
    """Writes a JSON list to a file, of which only what is new is written later.

    The contents are those of ``json.dump(entries, file, indent=4)``. Whenever another process reads
    the file, and whenever this one is killed, the file is a complete list: with the new entry, or
    without it. If the file was changed or replaced by something else, it is written as a whole.

    A new entry does not wait for the disk. It survives the end of the process, but not a power
    failure in the seconds that follow.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        # How the file was left: number of entries, size in bytes, and the identity of the file.
        self._count = 0
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
            and self._append(path, entries[self._count :])
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
            self._identity = status.st_dev, status.st_ino

    def _append(self, path: str, entries: list[dict[str, Any]]) -> bool:
        """Writes new entries over the end of the list; returns False if the file is another one."""
        new = b"".join(b",\n    " + _indented(entry) for entry in entries) + _END
        # Windows would translate the ends of lines without the flag.
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(path, flags)
        except OSError:
            return False
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) != self._identity or status.st_size != self._size:
                return False
            start = self._size - len(_END)
            os.lseek(descriptor, 0, os.SEEK_END)
            # JSON allows white space after a list. So the file first gets its new size, and then
            # the entries replace the end of the list and the space in one operation. If the file
            # grew in that operation, a reader could see the new contents cut at the old size.
            _write(descriptor, b" " * (len(new) - len(_END)))
            os.lseek(descriptor, start, os.SEEK_SET)
            _write(descriptor, new)
            self._size = start + len(new)
        finally:
            os.close(descriptor)
        return True


def _write(descriptor: int, data: bytes) -> None:
    """Writes all bytes; the operating system may take several calls if the disk is full."""
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
