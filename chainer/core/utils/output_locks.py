"""Locks for files that only one running program may write, such as the log of a training."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
from collections.abc import Iterable
from contextlib import suppress

from chainer.core.utils.temporary_names import is_at, keep_open, lock, unlock

#: Variables by which launchers tell a process its rank. The processes of one job may name one
#: folder; which of them writes is their affair.
_RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")

#: Variables with the number of processes.
_SIZES = ("WORLD_SIZE", "SLURM_NTASKS")

#: Lock files that this process holds.
_own: set[tuple[int, str]] = set()


class FolderInUseError(RuntimeError):
    """Another process writes the same files."""


class OutputLocks:
    """Holds locks until :meth:`release`.

    A lock is a hidden file ``.NAME.lock`` beside the file, locked as long as the process lives,
    however it ends. Processes of one job of MPI do not lock each other out, nor do several trainers
    of one process. Where the file system has no locks, there are none.

    Args:
        folder: The folder.
        names: Names of the files, or patterns of names. One lock is taken for each.

    Raises:
        FolderInUseError: If another process has a lock.
    """

    def __init__(self, folder: str, names: Iterable[str]) -> None:
        self._held: list[tuple[str, int]] = []
        if _is_part_of_a_job():
            return
        for name in sorted(set(names)):
            file = "." + re.sub(r"[^\w.=-]", "_", name)[:200] + ".lock"
            path = os.path.join(os.path.realpath(folder), file)
            if (os.getpid(), path) in _own:
                continue
            try:
                self._take(path, folder, name)
            except OSError:
                continue  # a folder that cannot be written, say: the program will tell
            except BaseException:
                self.release()
                raise

    def _take(self, path: str, folder: str, name: str) -> None:
        while True:
            descriptor = _open(path)
            if not lock(descriptor):
                owner = os.read(descriptor, 200).decode(errors="replace").strip()
                os.close(descriptor)
                raise FolderInUseError(
                    f"{owner or 'another process'} is writing {name!r} in the folder {folder!r} "
                    "now. Give this trainer another folder, `out`, or wait until that process has "
                    f"ended{_remedy_for_dead_hosts(owner, path)}"
                )
            # The former owner may have removed the file between the two calls.
            if is_at(descriptor, path):
                break
            os.close(descriptor)
        keep_open(descriptor)
        self._held.append((path, descriptor))
        _own.add((os.getpid(), path))
        with suppress(OSError):
            os.truncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())

    def release(self) -> None:
        """Gives the locks back."""
        for path, descriptor in self._held:
            # Not in a process that was forked: the lock is the one of its parent.
            if (os.getpid(), path) in _own:
                _own.discard((os.getpid(), path))
                with suppress(OSError):
                    os.unlink(path)
                unlock(descriptor)
        self._held.clear()


def _open(path: str) -> int:
    """Opens a lock file, which is made if it is missing.

    Raises:
        OSError: If there is something else. Others may write into the folder, too: a link to a file
            of this user, say, which would be written over.
    """
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise OSError(errno.EINVAL, "not a lock file", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remedy_for_dead_hosts(owner: str, path: str) -> str:
    """Returns what to do if the owner is on another host: a server may keep locks of dead ones."""
    _, _, host = owner.partition(" on ")
    if not host or host == socket.gethostname():
        return ""
    return f"; if {host} is down, remove {path!r}"


def _is_part_of_a_job() -> bool:
    if any(name in os.environ for name in _RANKS):
        return True
    return any(os.environ.get(name, "1") not in ("", "1") for name in _SIZES)
