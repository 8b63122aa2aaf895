"""The number of threads of NumPy's BLAS library: ``chainer.config.blas_threads``.

A BLAS library starts one thread for each core. While its threads wait for each other, they keep
their cores busy. If other programs use the cores too, each small product of matrices waits for a
thread that does not run: a training with small arrays took 28 times as long.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainer.core.config.busy_threads import BusyMonitor, Pool

#: Environment variables that set the number of threads of BLAS libraries.
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

#: The present limiter of the threads; None if there is no limit.
_limiter: Any = None

#: The limiter, if it watches the machine.
_monitor: BusyMonitor | None = None

#: Threads of providers that give way while other programs use the cores.
_added: list[Pool] = []

#: The limit is one for the process. Threads that change it at once take turns.
_changing = threading.Lock()


def parse_count(variable: str, text: str) -> int | str:
    """Returns the value of an environment variable that must be a positive number or ``auto``.

    Args:
        variable: Name of the variable, for the message.
        text: Its text.
    """
    if text == "auto":
        return text
    try:
        count = int(text)
    except ValueError:
        count = 0  # raises an error below, which shows the text
    if count < 1:
        raise ValueError(
            f"environment variable {variable} must be 1 or more, or auto, got {text!r}"
        )
    return count


def limit_blas_threads(count: Any) -> None:
    """Limits the threads of NumPy's BLAS library in this process, in all threads of Python.

    Args:
        count: Number of threads; ``'auto'`` for one while other programs use the cores
            (:mod:`chainer.core.config.busy_threads`); None removes the limit.

    Raises:
        ValueError: If it is not positive or ``'auto'``.
        ImportError: If threadpoolctl is not installed.
    """
    global _limiter, _monitor
    is_number = isinstance(count, int) and not isinstance(count, bool) and count > 0
    if not is_number and count is not None and count != "auto":
        raise ValueError(
            f"config.blas_threads must be a positive int, 'auto' or None, got {count!r}"
        )
    threadpoolctl: Any = None
    if count is not None:
        from chainer.core.installation import install_command  # `import chainer` is faster without

        # Before the previous limit is removed, so that an error changes nothing.
        try:
            threadpoolctl = importlib.import_module("threadpoolctl")
        except ImportError as error:
            raise ImportError(
                f"config.blas_threads needs threadpoolctl: {install_command('chainer[threads]')}; "
                f"or set the environment variable {VARIABLES[1]} before the program starts"
            ) from error
    with _changing:
        # Remove the previous limit: a second limiter would later restore that limit instead of the
        # original number.
        if _limiter is not None:
            _limiter.restore_original_limits()
            _limiter = _monitor = None
        if count == "auto":
            from chainer.core.config.busy_threads import BusyMonitor

            # Threads of OpenMP, such as oneDNN's, wait in the same way as threads of BLAS.
            _monitor = BusyMonitor(
                lambda: threadpoolctl.ThreadpoolController().lib_controllers, added=_added
            )
            _monitor.start()
            _limiter = _monitor
        elif count is not None:
            # The threads of oneDNN, which iDeep uses, are not limited.
            _limiter = threadpoolctl.threadpool_limits(limits=count, user_api="blas")


def add_pool(pool: Pool) -> None:
    """Lets the threads of a provider give way while ``config.blas_threads`` is ``'auto'``.

    Args:
        pool: Is told when other programs use the cores, and when they do no longer.
    """
    with _changing:
        _added.append(pool)
        if _monitor is not None:
            _monitor.begin(pool)


def unchanged_threads() -> AbstractContextManager[None]:
    """Returns a context that keeps the numbers of threads while ``blas_threads`` is ``'auto'``.

    The last bits of sums depend on them, so that results are compared with the same ones.
    """
    monitor = _monitor
    return nullcontext() if monitor is None else monitor.unchanged()


def lower_blas_threads(limit: Callable[[], object], count: int) -> None:
    """Lets a provider limit the threads of BLAS, because they would compete with its own.

    Args:
        limit: Sets the limit.
        count: The number of threads that it sets. A monitor of a busy machine gives no more back.
    """
    with _changing:
        limit()
        if _monitor is not None:
            _monitor.lower_blas_threads(count)


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
    """Returns advice if several BLAS threads share busy cores; None if there is no problem."""
    from chainer.core.config.busy_threads import available_cores

    cores = available_cores()
    threads = blas_threads()
    # If the number is unknown, assume the default of BLAS libraries: one thread for each core.
    threads = cores if threads is None else threads
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    # While half of the cores are idle, threads seldom wait for one.
    if threads < 2 or load < cores / 2:
        return None
    return (
        f"NumPy's BLAS uses {threads} threads, and the {cores} cores are busy (load {load:.1f}): "
        "training with small arrays may take many times as long; set CHAINER_BLAS_THREADS=auto"
    )


def slow_core_advice() -> str | None:
    """Returns advice if OpenBLAS is told which processor it is on; None if it looks itself."""
    core = os.environ.get("OPENBLAS_CORETYPE")
    if not core:
        return None
    return (
        f"OPENBLAS_CORETYPE={core}: NumPy's BLAS takes this processor for that one, and may "
        "multiply half as fast as it can on a newer one; unset it, unless results have to be the "
        "same on all machines"
    )


def _renew() -> None:
    """Goes on in a process that was forked."""
    global _changing
    _changing = threading.Lock()
    if _monitor is not None:
        _monitor.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
