"""Cases that measure peak memory of a fresh process. Python 3.7 and standard library only."""

from __future__ import annotations

import subprocess
import sys

import bench_case
from bench_case import Case, Missing


def cases(program):
    """Returns the cases that run ``program`` as a script, which prints the bytes asked for by its
    first argument.

    ``resident``: growth of the process's largest resident set. ``allocated``: largest sum of the
    blocks that Python and NumPy had allocated at one time, according to tracemalloc (PyTorch's
    allocator does not take part).
    """
    return {"resident": _running(program, "resident"), "allocated": _running(program, "allocated")}


def _running(program, measure):
    def prepare():
        if measure == "allocated" and bench_case.USE_IDEEP:
            raise Missing("tracemalloc does not see iDeep's own allocations")
        arguments = [
            sys.executable,
            "-I",
            program,
            measure,
            "ideep" if bench_case.USE_IDEEP else "plain",
        ]

        def step():
            return float(
                subprocess.run(arguments, stdout=subprocess.PIPE, check=True).stdout.split()[-1]
            )

        return Case([("", step)])

    return prepare


def growth(measure, work):
    """Returns by how many bytes the peak grew while ``work()`` ran.

    Args:
        measure: ``"resident"`` or ``"allocated"``.
        work: Function without arguments, called once.
    """
    if measure == "resident":
        import resource

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work()
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return (after - before) * (1 if sys.platform == "darwin" else 1024)  # elsewhere kilobytes
    import tracemalloc

    tracemalloc.start()
    work()
    return tracemalloc.get_traced_memory()[1]
