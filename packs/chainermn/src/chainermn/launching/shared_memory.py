"""Shared memory of MPI that a job leaves when its processes are killed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

#: Names that libraries of MPI give to their segments: MPICH, Open MPI, UCX, Intel MPI. Files of
#: programs in the same folder are never touched.
_NAMES = re.compile(
    r"/dev/shm/((mpich_shm_|vader_segment\.|sm_segment\.|ucx_shm_posix_|Intel_MPI_)\S+)"
)


class SharedMemory:
    """Knows the segments that the processes of a job map, and removes those that are left."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def look(self, processes: Iterable[int]) -> None:
        """Notes the segments of processes.

        Args:
            processes: Numbers of processes of this host.
        """
        for process in processes:
            self._names |= _segments(str(process))

    def remove(self) -> None:
        """Removes the segments that no process maps any more."""
        left = {name for name in self._names if os.path.exists(f"/dev/shm/{name}")}
        if not left:
            return
        for process in os.listdir("/proc"):
            if process.isdigit():
                left -= _segments(process)
        for name in left:
            try:
                os.unlink(f"/dev/shm/{name}")
            except OSError:
                pass  # of another user, or removed by MPI meanwhile
        self._names.clear()


def _segments(process: str) -> set[str]:
    try:
        maps = Path("/proc", process, "maps").read_text()
    except OSError:  # it has ended, or the system has no such files
        return set()
    return {match[1] for match in _NAMES.finditer(maps)}
