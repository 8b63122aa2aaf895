"""Locks between processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None


@contextlib.contextmanager
def file_lock(path: str) -> Iterator[None]:
    """Holds a lock that one thread of one process can hold at a time.

    The system releases it when the process ends, however it ends. Where the system or the file
    system does not support locks, the block runs without: code inside must be safe anyway, and use
    the lock only in order not to do work twice.

    Args:
        path: Path of a file that marks the lock. It exists only while the lock is held.
    """
    descriptor = None if fcntl is None else _acquire(path)
    try:
        yield
    finally:
        if descriptor is not None:
            # Removed before it is released: a process that waits for the removed file tries again.
            with contextlib.suppress(OSError):
                os.unlink(path)
            os.close(descriptor)


def _acquire(path: str) -> int | None:
    assert fcntl is not None
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # some network file systems have no locks
            os.close(descriptor)
            with contextlib.suppress(OSError):
                os.unlink(path)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        # The process that held the lock has removed the file. Others may have made a new one.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        os.close(descriptor)
