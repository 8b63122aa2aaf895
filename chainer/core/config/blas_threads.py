"""The number of threads of NumPy's BLAS library: ``chainer.config.blas_threads``.

A BLAS library starts one thread for each core. Its threads wait for each other actively. If other
programs keep the cores busy, each small product of matrices waits for a thread that does not run: a
training of small arrays took 28 times as long.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

#: Variables by which BLAS libraries are told the number of threads before they start.
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

#: What limits the threads at present; None if nothing does.
_limiter: Any = None


def parse_count(variable: str, text: str) -> int:
    """Returns the value of an environment variable that must be a positive number.

    Args:
        variable: Name of the variable, for the message.
        text: Its text.
    """
    try:
        count = int(text)
    except ValueError:
        count = 0  # refused below, with the text as it was given
    if count < 1:
        raise ValueError(f"environment variable {variable} must be 1 or more, got {text!r}")
    return count


def limit_blas_threads(count: Any) -> None:
    """Limits the threads of NumPy's BLAS library in this process, in all threads of Python.

    Args:
        count: Number of threads; None removes the limit.

    Raises:
        ValueError: If it is not positive.
        ImportError: If threadpoolctl is not installed.
    """
    global _limiter
    if count is not None and (not isinstance(count, int) or count < 1):
        raise ValueError(f"config.blas_threads must be a positive int or None, got {count!r}")
    # A second limiter would take the limit of the first one for the original number.
    if _limiter is not None:
        _limiter.restore_original_limits()
        _limiter = None
    if count is None:
        return
    try:
        threadpoolctl: Any = importlib.import_module("threadpoolctl")
    except ImportError as error:
        raise ImportError(
            'config.blas_threads needs threadpoolctl: pip install "chainer[threads]"; or set '
            f"the environment variable {VARIABLES[1]} before the program starts"
        ) from error
    # The threads of oneDNN, which iDeep uses, are not limited.
    _limiter = threadpoolctl.threadpool_limits(limits=count, user_api="blas")


def blas_threads() -> int | None:
    """Returns the number of threads of NumPy's BLAS library; None if that is not known."""
    try:
        threadpoolctl: Any = importlib.import_module("threadpoolctl")
    except ImportError:
        for variable in VARIABLES:
            # OpenMP also takes lists such as ``4,2``, which BLAS libraries read in various ways.
            text = os.environ.get(variable, "")
            if text.isdigit() and int(text) > 0:
                return int(text)
        return None
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    return max([pool["num_threads"] for pool in pools], default=None)


def slow_threads_advice() -> str | None:
    """Returns what to do if several BLAS threads share cores that are busy; None if all is well."""
    # A container or `taskset` may allow fewer cores than the machine has.
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    threads = blas_threads()
    # Without threadpoolctl the library has as many threads as cores, unless it was told otherwise.
    threads = cores if threads is None else threads
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    # While half of the cores are idle, threads seldom wait for one.
    if threads < 2 or load < cores / 2:
        return None
    return (
        f"NumPy's BLAS uses {threads} threads, and the {cores} cores are busy (load {load:.1f}): "
        "training with small arrays may take many times as long; set CHAINER_BLAS_THREADS=1"
    )
