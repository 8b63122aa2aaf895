"""A second copy of a file, which takes its place when more was added to it."""

from __future__ import annotations

import io
import os
import weakref
from contextlib import suppress

from chainer.core.utils.temporary_names import (
    keep_open,
    lock,
    make_temporary,
    temporary_name,
    unlock,
)

#: Bytes that are copied at once.
_BLOCK = 1 << 20


class SecondCopy:
    """Adds bytes to the end of a file in one step, at a cost that does not grow with the file.

    A write of more than a page may be divided if the process is killed. A rename is never divided.
    So there are two copies. The bytes are added to the hidden one, which then takes the name of the
    file. The former file becomes the hidden copy. The next call first adds to it what it lacks.

    The hidden copy has the name of a temporary file and is locked while this process lives. A
    trainer that starts in the directory removes the copy of a process that was killed.

    Args:
        path: The file, with symbolic links resolved.

    Raises:
        OSError: If the copy cannot be made.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._directory, self._name = os.path.split(path)
        #: Bytes of the hidden copy that are the same as in the file, and size of the copy.
        self._same = self._size = 0
        self._hold(*make_temporary(self._directory, self._name, _create))
        os.chmod(self._hidden, os.stat(path).st_mode & 0o7777)

    def _hold(self, hidden: str, descriptor: int) -> None:
        """Takes over a hidden file and the descriptor that locks it."""
        self._hidden = hidden
        # Removes the file also if the process ends, or the log is dropped, without `remove`.
        self._finalizer = weakref.finalize(self, _remove, os.getpid(), hidden, descriptor)

    def add(self, end: int, size: int, data: bytes, space: int, tail: bytes) -> int:
        """Adds bytes to the file.

        Args:
            end: Position in the file at which they are added. Only spaces follow, and ``tail``.
            size: Size of the file in bytes.
            data: The bytes.
            space: Number of spaces that are added if those of the hidden copy are used up.
            tail: The bytes at the end of the file.

        Returns:
            int: The new size of the file.

        Raises:
            OSError: If it cannot be done. The file is as before, and there is no hidden copy.
        """
        try:
            with (
                open(self._path, "rb", buffering=0) as file,
                open(self._hidden, "r+b", buffering=0) as copy,
            ):
                _copy(file, copy, self._same, end)
                _write(copy, data)
                new_size = self._size
                if end + len(data) + len(tail) > new_size:
                    _write(copy, b" " * space + tail)
                    new_size = copy.tell()
                    # After a power failure it must not be shorter than the file that it replaces.
                    os.fsync(copy.fileno())
            self._exchange()
        except BaseException:
            self.remove()
            raise
        self._same, self._size = end, size
        return new_size

    def _exchange(self) -> None:
        """Gives the hidden copy the name of the file; the file becomes the hidden copy."""
        descriptor = os.open(self._path, os.O_RDWR)
        hidden = os.path.join(self._directory, temporary_name(self._name))
        try:
            # Before it has the name of a temporary file, which others would remove.
            lock(descriptor)
            keep_open(descriptor)
            os.link(self._path, hidden)
        except BaseException:
            unlock(descriptor)
            raise
        copy, remove_copy = self._hidden, self._finalizer
        self._hold(hidden, descriptor)
        try:
            os.replace(copy, self._path)
        finally:
            remove_copy()  # it has no hidden name any more, and needs no lock

    def remove(self) -> None:
        """Removes the hidden copy."""
        self._finalizer()


def _copy(file: io.FileIO, copy: io.FileIO, start: int, end: int) -> None:
    """Copies bytes to the same position of another file."""
    file.seek(start)
    copy.seek(start)
    while start < end:
        data = file.read(min(_BLOCK, end - start))
        if not data:
            raise OSError(f"{file.name!r} was cut off by another program")
        _write(copy, data)
        start += len(data)


def _write(file: io.FileIO, data: bytes) -> None:
    """Writes all bytes: a disk that is almost full accepts a part, and the next call fails."""
    while data:
        data = data[os.write(file.fileno(), data) :]


def _create(path: str) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)


def _remove(process: int, path: str, descriptor: int) -> None:
    # A forked process has neither the lock nor the descriptor.
    if process == os.getpid():
        with suppress(FileNotFoundError):
            os.unlink(path)
        unlock(descriptor)
