"""Shared memory of MPI that a job leaves when its processes are killed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

#: Names that libraries of MPI give to their segments: MPICH, Open MPI, UCX, Intel MPI. Files of
#: programs in the same folder are never touched.
_NAMES = re.compile(
    r"/dev/shm/((mpich_shm_|vader_segment\.|sm_segment\.|ucx_shm_posix_|Intel_MPI_)\S+)"
)

#: A segment is mapped right after it was made. One that no process maps after this
#: time is left over.
_SECONDS_TO_MAP = 1.0


class SharedMemory:
    """Knows the segments that the processes of a job map, and removes those that are left."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._began = time.time()

    def look(self, processes: Iterable[int]) -> None:
        """Notes the segments of processes.

        Args:
            processes: Numbers of processes of this host.
        """
        for process in processes:
            self._names |= segments_of(str(process))

    def note(self, names: Iterable[str]) -> None:
        """Notes segments that a process of this host has told.

        Args:
            names: Names of files in ``/dev/shm``. Names that no MPI gives are ignored.
        """
        self._names |= {name for name in names if _NAMES.fullmatch(f"/dev/shm/{name}")}

    def remove(self, failed: bool = False) -> None:
        """Removes the segments that no process maps any more.

        Args:
            failed: Whether a process may have been killed while MPI started, before it told its
                segments. Then the segments of this user that are younger than the job, and that no
                process maps, are removed as well.
        """
        left = {name for name in self._names if os.path.exists(f"/dev/shm/{name}")}
        if failed:
            left |= self._unclaimed()
        _remove_unmapped(left)
        self._names.clear()

    def _unclaimed(self) -> set[str]:
        """Returns the names of segments that were made since the job began."""
        found: dict[str, float] = {}
        for name in os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else ():
            if not _NAMES.fullmatch(f"/dev/shm/{name}"):
                continue
            try:
                status = os.stat(f"/dev/shm/{name}")
            except OSError:
                continue  # removed by its owner
            # One tick of the clock of the file system before the clock of this process.
            if status.st_uid == os.getuid() and status.st_ctime >= self._began - 0.01:
                found[name] = status.st_ctime
        if found:
            # Another job may have made one that it is going to map.
            time.sleep(max(0.0, max(found.values()) + _SECONDS_TO_MAP - time.time()))
        return set(found)


def _remove_unmapped(left: set[str]) -> None:
    if not left:
        return
    for process in os.listdir("/proc"):
        if process.isdigit():
            left = left - segments_of(process)
    for name in left:
        try:
            os.unlink(f"/dev/shm/{name}")
        except OSError:
            pass  # of another user, or removed by MPI meanwhile


def segments_of(process: str = "self") -> set[str]:
    """Returns the names of the segments of MPI that a process maps.

    Args:
        process: Its number, or ``self``.
    """
    try:
        maps = Path("/proc", process, "maps").read_text()
    except OSError:  # it has ended, or the system has no such files
        return set()
    return {match[1] for match in _NAMES.finditer(maps)}
