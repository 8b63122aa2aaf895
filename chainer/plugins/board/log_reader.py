"""Reads a log that grows: each time only what is new, at a bounded cost."""

from __future__ import annotations

import array
import codecs
import itertools
import json
import os
import re
import time
from pathlib import Path
from typing import Any, BinaryIO, cast

from chainer.plugins.board.files import open_inside, presentable

#: Bytes that are read at once.
_PIECE = 1 << 18

#: Size of the largest entry, in bytes. One of more has another meaning than a line of a log.
_ENTRY_BYTES = 1 << 22

#: Bytes at the begin and before the position that must be the same when the file is read again.
_ANCHOR = 256

#: What an entry costs in a response and in memory beyond its values, in bytes.
_ROW_BYTES = 4

#: Members and letters of keys that an ordinary entry has at most, and the types of its values.
_FEW = 100
_NUMBERS = (float, int)

_SPACE = re.compile(r"[ \t\r\n]*")


class LogReader:
    """The entries of a log, of which only new ones are read.

    Of a long log every second, every fourth, ... entry and the last one are kept, so that memory
    and the response stay bounded. An entry is kept as the list of its values; entries of the same
    keys share the list of the keys.

    Args:
        path: The log: a list of objects in JSON, as LogReport writes it.
        top: The folder of the board.
        limit: Size of the entries that are kept, in bytes of JSON.
    """

    def __init__(self, path: Path, top: Path, limit: int) -> None:
        self.limit = limit
        self._path = path
        self._top = top
        self._decoder = json.JSONDecoder()
        #: Grows when entries that were kept are left out, so that a page has to forget them.
        self.version = 0
        self._restart()

    def _restart(self) -> None:
        self.version += 1
        #: Number of complete entries that were read.
        self.count = 0
        #: Why the rest cannot be read; empty if it can.
        self.problem = ""
        #: Time of the last change, in seconds since 1970.
        self.modified = 0.0
        #: The part of the file that was read.
        self.share = 0.0
        # The values of an entry in JSON, and the index of its keys in a table of them.
        self._kept: list[bytes] = []
        self._shapes = array.array("L")
        self._keys: dict[tuple[str, ...], int] = {}
        self._kept_bytes = 0
        self._step = 1
        # The last entry of the list, which gets its end only when another one follows.
        self._last: dict[str, Any] = {}
        # Where reading goes on: after the comma behind the last complete entry.
        self._position = 0
        self._anchor = self._head = b""
        # The bytes from there on that were read, and white space that was left out of them: the
        # offset in the buffer and the number of bytes.
        self._buffer = b""
        self._removed: list[tuple[int, int]] = []
        self._state: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """Number of entries that were read, the last one included."""
        return self.count + bool(self._last)

    @property
    def kept(self) -> int:
        """Number of entries that are kept, without the last one, which may still change."""
        return len(self._kept)

    def entries(self, first: int = 0) -> bytes:
        """Returns the entries that are kept, from one of them on, as members of an object in JSON.

        Args:
            first: Index of the first one. A page that has the others asks for the rest.

        Returns:
            bytes: ``"from"``: the index; ``"keys"``: lists of keys; ``"shapes"``: for each entry
            the index of its list of keys; ``"rows"``: for each entry the list of its values.
        """
        rows, shapes, keys = self._kept[first:], self._shapes[first:].tolist(), list(self._keys)
        if self._last:
            shape = tuple(self._last)
            if shape not in self._keys:
                keys.append(shape)
            shapes.append(keys.index(shape))
            rows.append(_values(self._last))
        members = {"from": first, "keys": keys, "shapes": shapes}
        return json.dumps(members)[1:-1].encode() + b', "rows": [' + b",".join(rows) + b"]"

    def update(self, deadline: float) -> None:
        """Reads what is new.

        Args:
            deadline: Time of ``time.monotonic()`` at which to stop. The next call goes on there.
        """
        try:
            with open_inside(self._path, self._top) as file:
                status = os.fstat(file.fileno())
                state = (status.st_ino, status.st_size, status.st_mtime_ns)
                if state == self._state and (self.share == 1 or self.problem):
                    return
                if not self._is_same_log(file):
                    self._restart()
                self.problem = ""
                self.modified = status.st_mtime
                try:
                    self._read(file, status.st_size, deadline)
                finally:
                    # White space behind the last entry is a quarter of a log.
                    self._buffer, self._removed = b"", []
                self._state = state
                self._head, self._anchor = self._marks(file)
        except OSError as error:
            self._restart()
            self.problem = error.strerror or str(error)

    def _is_same_log(self, file: BinaryIO) -> bool:
        return self._marks(file) == (self._head, self._anchor)

    def _marks(self, file: BinaryIO) -> tuple[bytes, bytes]:
        """Returns the first and the last bytes of what was read."""
        file.seek(0)
        head = file.read(min(_ANCHOR, self._position))
        start = max(self._position - _ANCHOR, 0)
        file.seek(start)
        return head, file.read(self._position - start)

    def _read(self, file: BinaryIO, size: int, deadline: float) -> None:
        file.seek(self._position)
        self._last = {}
        begin = self._position
        while not self.problem:
            piece = file.read(_PIECE)
            at_end = len(piece) < _PIECE
            # LogReport keeps space for new entries in the last one: a quarter of the file.
            if not at_end and piece.isspace():
                self._removed.append((len(self._buffer), len(piece) - 1))
                piece = b" "
            self._buffer += piece
            try:
                complete = self._take(at_end)
            except (ValueError, RecursionError) as error:
                self.problem = _text_of(error)
                return
            if complete or at_end:
                self.share = 1.0
                return
            self.share = file.tell() / max(size, file.tell())
            if len(self._buffer) > _ENTRY_BYTES:
                self.problem = f"entry {self.count + 1} is larger than {_ENTRY_BYTES >> 20} MiB"
            # An entry at least: the next call begins with an empty buffer.
            if self._position > begin and time.monotonic() > deadline:
                return

    def _take(self, at_end: bool) -> bool:
        """Takes the complete entries from the buffer, which begins at the position.

        Returns:
            bool: Whether the list has ended.

        Raises:
            ValueError: If it is not a list in JSON, or ends in the middle.
        """
        text, _ = codecs.utf_8_decode(self._buffer, "strict", at_end)
        start = index = 0
        try:
            if self._position == 0:
                index = _skip(text, 0)
                if index == len(text) and not at_end:
                    return False
                if text[index : index + 1] != "[":
                    raise ValueError("not a list of entries in JSON")
                start = index = index + 1
            index = _skip(text, index)
            while text[index : index + 1] != "]":
                value, index = self._decoder.raw_decode(text, index)
                index = _skip(text, index)
                end = text[index : index + 1]
                if end == ",":
                    self._add(_entry(value, self.limit))
                    start = index + 1
                    index = _skip(text, start)
                elif end == "]":
                    self._last = _entry(value, self.limit)
                elif end or at_end:
                    raise ValueError(f"expected ',' or ']' after entry {self.count + 1}")
                else:
                    return False
            return True
        except json.JSONDecodeError:
            # The rest of the entry comes with the next piece.
            if at_end:
                raise
            return False
        finally:
            self._advance(len(text[:start].encode()))

    def _advance(self, size: int) -> None:
        """Moves the position behind the first bytes of the buffer."""
        self._buffer = self._buffer[size:]
        self._position += size + sum(n for offset, n in self._removed if offset < size)
        self._removed = [(offset - size, n) for offset, n in self._removed if offset >= size]

    def _add(self, entry: dict[str, Any]) -> None:
        """Keeps an entry, and fewer of the others if they are too many."""
        if not entry:
            return
        if self.count % self._step == 0:
            self._kept.append(_values(entry))
            self._shapes.append(self._shape(tuple(entry)))
            self._kept_bytes += len(self._kept[-1]) + _ROW_BYTES
        self.count += 1
        while self._kept_bytes > self.limit and len(self._kept) > 1:
            self._halve()

    def _shape(self, keys: tuple[str, ...]) -> int:
        if keys not in self._keys:
            self._keys[keys] = len(self._keys)
            self._kept_bytes += sum(len(key) + 4 for key in keys)
        return self._keys[keys]

    def _halve(self) -> None:
        """Leaves every second entry out, and the lists of keys that no other entry has."""
        self.version += 1
        self._step *= 2
        del self._kept[1::2]
        keys = list(self._keys)
        left = [keys[shape] for shape in self._shapes[::2]]
        self._keys = {}
        self._kept_bytes = sum(map(len, self._kept)) + _ROW_BYTES * len(self._kept)
        self._shapes = array.array("L", [self._shape(shape) for shape in left])


def _skip(text: str, index: int) -> int:
    """Returns the index of the next character that is not white space."""
    match = _SPACE.match(text, index)
    return index if match is None else match.end()


def _entry(value: object, limit: int) -> dict[str, Any]:
    """Returns an entry as the page gets it; empty if it is not an object."""
    if not isinstance(value, dict):
        return {}
    found = cast("dict[str, Any]", value)
    if len(found) <= _FEW and all(type(v) in _NUMBERS and len(k) <= _FEW for k, v in found.items()):
        return found  # the ordinary entry, of which a log may have a million
    entry: dict[str, Any] = presentable(found)
    size = len(json.dumps(entry))
    if size <= limit:
        return entry
    # The first members, and the counts, which are last.
    counts = {key: entry[key] for key in ("epoch", "iteration", "elapsed_time") if key in entry}
    return dict(itertools.islice(entry.items(), limit * len(entry) // (2 * size))) | counts


def _values(entry: dict[str, Any]) -> bytes:
    """Returns the values of an entry in JSON. Seven digits are more than a curve shows."""
    texts = [
        f"{v:.7g}" if type(v) is float and v - v == 0 else json.dumps(presentable(v))
        for v in entry.values()
    ]
    return f"[{','.join(texts)}]".encode()


def _text_of(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
