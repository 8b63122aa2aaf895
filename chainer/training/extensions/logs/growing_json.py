"""A file with a JSON list that grows at its end."""

from __future__ import annotations

import io
import json
import os
import re
from typing import Any

from chainer.core.utils.atomic_file import replacing
from chainer.training.extensions.logs.second_copy import SecondCopy

#: Text after the members of the last entry.
_END = b"\n    }\n]"

#: Text between the members of two entries.
_BETWEEN = b"\n    },\n    {"

#: Least size of the space that is kept for new entries, in bytes; see GrowingJsonFile.
_SPACE = 65536

#: Size of the parts of a file that the operating system writes as a whole, in bytes. A process
#: that is killed during a write may leave it divided at a multiple of this. Systems with larger
#: pages divide at multiples of theirs, which are multiples of this, too.
_PAGE = 4096


class GrowingJsonFile:
    """Writes a JSON list of objects to a file, of which only what is new is written later.

    Whenever this process is killed, the file is a complete list: with the new entry, or without it.
    If the file was changed or replaced by something else, it is written as a whole. Once
    :meth:`close` was called, the file equals the result of ``json.dump(entries, file, indent=4)``.

    JSON allows white space before the bracket that ends an object. So there are many spaces after
    the members of the last entry while the list grows, and a new entry replaces some of them: it
    closes the last one and leaves its own end to the brackets that are there. An entry does not
    cross the end of a page, since a process that is killed may write only the part before it: more
    spaces are left before such an entry. An entry that is larger than a page is added to a hidden
    copy of the file, which then takes its place (:class:`SecondCopy`). When the space is used up, a
    copy with the new entries and more space replaces the file. The space grows with the file, so
    that copies get rare.

    A process that reads the file while an entry is copied to its page (less than a microsecond) may
    see a part of this entry, which JSON readers refuse. It should then read again.

    A new entry does not wait for the disk. It survives the end of the process, but not a power
    failure in the seconds that follow.
    """

    def __init__(self) -> None:
        self._path: str | None = None
        # How the file was left: number of entries, position after the members of the last one, size
        # of the file in bytes, and its identity.
        self._count = 0
        self._end = 0
        self._size = 0
        self._identity: tuple[int, int] | None = None
        # For entries that are larger than a page.
        self._second: SecondCopy | None = None

    def __reduce__(self) -> tuple[type[GrowingJsonFile], tuple[()]]:
        # A copy of this object writes the file as a whole first: two cannot share a hidden copy.
        return GrowingJsonFile, ()

    def write(self, path: str, entries: list[dict[str, Any]]) -> None:
        """Brings a file up to date.

        Args:
            path: The file. If it is the one of the call before, the entries of that call are
                assumed to be the same.
            entries: The list.
        """
        if path != self._path or not 0 < self._count < len(entries) or not self._append(entries):
            text = json.dumps(entries, indent=4).encode()
            self._replace(path, text, _end_of_members(text))
        self._path = path
        self._count = len(entries)

    def close(self) -> None:
        """Removes the spaces that are not needed any more, and the hidden copy."""
        self._drop_second()
        descriptor = self._open()
        if descriptor is None or self._path is None:
            return
        with open(descriptor, "rb") as file:
            text = file.read(self._end) + _END
        # Inside of strings, JSON writes the end of a line as two characters.
        text = re.sub(rb" +(?=,?\n)", b"", text)
        text = text.replace(b"{\n    }", b"{}")
        if len(text) != self._size:
            self._replace(self._path, text, _end_of_members(text))

    def is_on_disk(self, count: int) -> bool:
        """Makes sure that the file survives a power failure, too.

        Args:
            count: Number of the entries it must have.

        Returns:
            bool: False if it has another number, or was changed by something else.
        """
        if count != self._count:
            return False
        descriptor = self._open()
        if descriptor is None:
            return False
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return True

    def _replace(self, path: str, text: bytes, end: int) -> None:
        """Writes the whole file; the members of its last entry end at the position ``end``."""
        self._identity = None
        self._drop_second()
        with replacing(path) as temporary, open(temporary, "wb") as file:
            file.write(text)
        # Only a regular file has a size to check; a pipe, for example, has none.
        if os.path.isfile(path):
            self._size = len(text)
            self._end = end
            self._remember(path)

    def _remember(self, path: str) -> None:
        status = os.stat(path)
        self._identity = status.st_dev, status.st_ino

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
        """Adds the entries that are new; returns False if the file is another one."""
        descriptor = self._open()
        if descriptor is None or self._path is None:
            return False
        with open(descriptor, "r+b", buffering=0) as file:
            for entry in entries[self._count :]:
                text = _BETWEEN + _members(entry)
                if len(text) > _PAGE:
                    return self._add_by_exchange(self._path, entries[self._count :])
                position = _on_one_page(self._end, len(text))
                if position + len(text) + len(_END) > self._size:
                    old = _read(file, self._end)
                    break
                file.seek(position)
                _write(descriptor, text)
                self._end = position + len(text)
                self._count += 1
            else:
                return True
        new = (_BETWEEN + _members(entry) for entry in entries[self._count :])
        self._extend(self._path, b"".join((old, *new)))
        return True

    def _add_by_exchange(self, path: str, entries: list[dict[str, Any]]) -> bool:
        """Adds entries of any size; returns False if the file system does not allow it."""
        text = b"".join([_BETWEEN + _members(entry) for entry in entries])
        space = max(_SPACE, (self._end + len(text)) // 4)
        self._identity = None
        try:
            if self._second is None:
                self._second = SecondCopy(os.path.realpath(path))
            self._size = self._second.add(self._end, self._size, text, space, _END)
        except OSError:
            # For example without hard links. The whole file is written, or that fails, too.
            self._second = None
            return False
        self._end += len(text)
        self._remember(path)
        return True

    def _drop_second(self) -> None:
        if self._second is not None:
            self._second.remove()
            self._second = None

    def _extend(self, path: str, text: bytes) -> None:
        """Replaces the file by ``text`` (a list without its end) and space for new entries."""
        space = b" " * max(_SPACE, len(text) // 4)
        self._replace(path, text + space + _END, len(text))


def _on_one_page(position: int, size: int) -> int:
    """Returns the first position, from a given one, at which ``size`` bytes are on one page."""
    crosses = position // _PAGE != (position + size - 1) // _PAGE
    return -(-position // _PAGE) * _PAGE if crosses else position


def _end_of_members(text: bytes) -> int:
    """Returns where the members of the last entry of a list end."""
    # An empty entry is written as two brackets.
    return len(text) - len(_END if text.endswith(_END) else b"}\n]")


def _members(entry: dict[str, Any]) -> bytes:
    """Returns the members of an entry as ``json.dump`` with an indentation of 4 writes them."""
    text = json.dumps(entry, indent=4)
    return text[1:].removesuffix("}").removesuffix("\n").replace("\n", "\n    ").encode()


def _read(file: io.FileIO, size: int) -> bytes:
    """Reads the first ``size`` bytes, of which one call of ``read`` returns at most 2 GiB."""
    file.seek(0)
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(descriptor: int, data: bytes) -> None:
    """Writes bytes where the file is."""
    # Usually once. A disk that is almost full may accept a part, and the next call then fails.
    while data:
        data = data[os.write(descriptor, data) :]
