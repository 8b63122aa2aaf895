"""Names of temporary files, and the removal of those that a killed process has left.

A temporary file ``.NAME.HOST-RANDOM.tmp`` is locked as long as its writer lives. The system
releases the lock when the writer ends, however it ends. So a file that can be locked is one that
nothing writes any more.

Directories are locked by ``flock``. Files have a lock of the open file description (Linux), because
libraries that write into them, such as HDF5, use ``flock`` themselves.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
import stat
import struct
import time
import uuid
import zlib
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType

try:
    import fcntl as _fcntl
except ImportError:  # not a POSIX system: there are no locks, so nothing is removed
    fcntl: ModuleType | None = None
else:
    fcntl = _fcntl

_PATTERN = re.compile(r"\..*\.([0-9a-f]{8})-[0-9a-f]{12}\.tmp", re.DOTALL)

#: Locks of some network file systems are not seen by other hosts. A file of another host is removed
#: only if it has not changed for a day.
_FOREIGN_SECONDS = 24 * 3600.0

#: Descriptors of temporary files of this process.
_held: set[int] = set()


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def temporary_name(name: str) -> str:
    """Returns a new name for a temporary file.

    Args:
        name: Name of the file that it will replace.
    """
    return f".{name[:200]}.{_host()}-{uuid.uuid4().hex[:12]}.tmp"


def make_temporary(
    directory: str, name: str, create: Callable[[str], int], made: list[str] | None = None
) -> tuple[str, int]:
    """Makes a temporary file or directory and locks it.

    Args:
        directory: Where it is made.
        name: Name of the file that it will replace.
        create: Makes it and returns a descriptor; it gets the path.
        made: Gets each path before something is made there. So a caller that is interrupted, at any
            instruction, can remove it.

    Returns:
        tuple: Path and descriptor, which :func:`unlock` closes.

    Raises:
        OSError: If it cannot be made.
    """
    while True:
        path = os.path.join(directory, temporary_name(name))
        if made is not None:
            made.append(path)
        descriptor = create(path)
        # Another process that starts right now may have taken it for a leftover, before it was
        # locked. Then a new one is made.
        if lock(descriptor) and is_at(descriptor, path):
            keep_open(descriptor)
            return path, descriptor
        os.close(descriptor)


def make_temporary_directory(
    directory: str, name: str, made: list[str] | None = None
) -> tuple[str, int]:
    """Makes a temporary directory and locks it; see :func:`make_temporary`.

    Args:
        directory: Where it is made.
        name: Name of the file that will be written in it.
        made: As for :func:`make_temporary`.
    """
    while True:
        with suppress(FileNotFoundError):
            return make_temporary(directory, name, _create_directory, made)
        # Either a process that starts right now removed it, or there is no place for it.
        os.stat(directory)


def _create_directory(path: str) -> int:
    os.mkdir(path, 0o700)
    return os.open(path, os.O_RDONLY)


def lock(descriptor: int) -> bool:
    """Locks a file; returns False if another process, or another descriptor, has the lock.

    File systems without locks count as locked: there, leftovers are not removed either.

    Args:
        descriptor: Descriptor of the file.
    """
    try:
        return _try_lock(descriptor)
    except OSError:
        return True


def _try_lock(descriptor: int) -> bool:
    """Locks a file; returns False if it is locked, and raises OSError where there are no locks."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "this system has no locks")
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif hasattr(fcntl, "F_OFD_SETLK"):
            # struct flock: type, whence, start, length (0: all of it), process (0, as demanded).
            request = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, request)
        else:
            raise OSError(errno.ENOSYS, "this system has no locks of open files")
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def keep_open(descriptor: int) -> None:
    """Leaves a locked file open until :func:`unlock`, in this process and not in forked ones.

    Args:
        descriptor: Descriptor of the file.
    """
    _held.add(descriptor)


def unlock(descriptor: int) -> None:
    """Closes a descriptor of :func:`keep_open` or :func:`make_temporary`, which releases the lock.

    Args:
        descriptor: The descriptor.
    """
    _held.discard(descriptor)
    os.close(descriptor)


def is_at(descriptor: int, path: str) -> bool:
    """Returns whether an open file is the one that has a name now.

    Args:
        descriptor: Descriptor of the file.
        path: The name.
    """
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def remove_leftovers(directory: str | os.PathLike[str]) -> list[str]:
    """Removes the temporary files of writers that were killed.

    Only names that :func:`replacing` and the snapshot writers make are considered, and only files
    that no living process writes.

    Args:
        directory: Directory that is searched, not those below it.

    Returns:
        list: Names of what was removed.
    """
    removed: list[str] = []
    if fcntl is None:
        return removed
    try:
        names = os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return removed
    for name in names:
        match = _PATTERN.fullmatch(name)
        path = os.path.join(directory, name)
        # A leftover that cannot be removed (of another user, say) does no harm.
        with suppress(OSError):
            if match is not None and _remove_if_left(path, match[1]):
                removed.append(name)
    return removed


def _remove_if_left(path: str, host: str) -> bool:
    status = os.lstat(path)
    mode = status.st_mode
    if host != _host() and time.time() - status.st_mtime < _FOREIGN_SECONDS:
        return False
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        return False
    # A lock for writing needs a file that is open for writing, which a directory cannot be.
    flags = os.O_RDONLY if stat.S_ISDIR(mode) else os.O_RDWR
    descriptor = os.open(path, flags | os.O_NOFOLLOW)
    try:
        if not _try_lock(descriptor):
            return False
        if stat.S_ISDIR(mode):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    finally:
        os.close(descriptor)
    return True


def _close_in_child() -> None:
    # A forked process shares the locks of its parent and would keep them after the parent's death.
    for descriptor in _held:
        with suppress(OSError):
            os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
