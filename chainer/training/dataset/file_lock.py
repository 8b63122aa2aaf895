"""Locks between processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def file_lock(path: str) -> Iterator[None]:
    """Holds a lock that one thread of one process can hold at a time.

    The system releases it when the process ends, however it ends. Without the package filelock (the
    extra ``datasets``), and where the file system has no locks, the block runs without: code inside
    must be safe anyway, and use the lock only in order not to do work twice. It must look again
    whether the work is done: the file of the lock is removed at the end.

    Args:
        path: Path of a file that marks the lock. It exists only while the lock is held.
    """
    with contextlib.ExitStack() as held:
        try:
            import filelock
        except ImportError:
            pass
        else:
            # Some network file systems have no locks.
            with contextlib.suppress(OSError, NotImplementedError):
                held.enter_context(filelock.FileLock(path))
                # Before the lock is released. A process that waits for it gets a lock of the
                # removed file, and finds the work done.
                held.callback(_remove, path)
        yield


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
