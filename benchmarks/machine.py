"""What machine a run was made on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

#: Beginnings of environment variables that change what libraries do. With
#: ``OPENBLAS_CORETYPE=Haswell`` NumPy multiplies half as fast on a processor with AVX-512, and
#: other libraries as fast as before: ratios of peers mean nothing then.
PREFIXES = ("OPENBLAS_", "MKL_", "ONEDNN_", "DNNL_", "OMP_", "GOMP_", "KMP_", "NPY_", "NUMBA_")


def describe_machine() -> dict[str, str | int | list[float] | dict[str, str]]:
    """Returns processor, cores, system, load averages (1, 5, 15 minutes) and library settings."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        "system": platform.platform(),
        "load": [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "settings of libraries": {
            name: text
            for name, text in sorted(os.environ.items())
            # Each run sets the numbers of threads.
            if name.startswith(PREFIXES) and not name.endswith("_NUM_THREADS")
        }
        or "none",
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
