"""The tests in ``ranks`` are for processes that mpiexec has started."""

import os
import threading
from pathlib import Path

import pytest
from mpi_processes import descendants

collect_ignore_glob = []
IN_MPIEXEC = any(name in os.environ for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK"))
if not IN_MPIEXEC:
    collect_ignore_glob.append("ranks/*")

#: Seconds between two looks at the processes. Those that MPI starts live longer.
INTERVAL = 0.2


@pytest.fixture(scope="session", autouse=True)
def _no_segments_are_left():
    """Removes the shared memory that processes of these tests leave when they are killed."""
    if IN_MPIEXEC or not Path("/proc/self/stat").exists():
        yield
        return
    from chainermn.launching.shared_memory import SharedMemory, segments_of

    memory, is_over = SharedMemory(), threading.Event()

    def watch():
        while not is_over.wait(INTERVAL):
            memory.look(descendants(os.getpid()))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield
    is_over.set()
    thread.join()
    # Tests that use MPI in this process: it removes its own segment when it ends.
    own = segments_of()
    memory.remove()
    assert segments_of() == own
