"""The tests in ``ranks`` are for processes that mpiexec has started."""

import os

collect_ignore_glob = []
if not any(name in os.environ for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK")):
    collect_ignore_glob.append("ranks/*")
