"""Threads of BLAS that give way on busy machines: ``chainer.config.blas_threads = 'auto'``.

While the threads of BLAS or OpenMP wait for each other, they keep their cores busy. If another
program has one of the cores, each product of matrices waits for a thread that does not run. The
operating system then takes cores away from this process while it works, and counts this. So a
monitor reads that count some fifty times a second. Where it grows, libraries get one thread, which
waits for no other. After a while without interruptions they get their threads back on trial.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

#: Seconds between two readings: short, because until then a step may take eight times as long.
INTERVAL = 0.02

#: Interruptions from one reading to the next that show a busy machine. On an idle one a reading has
#: seldom one; a core that two programs share changes hands every 3 to 4 milliseconds.
BUSY = 2

#: Seconds without an interruption until threads are given back: at first, and at most. Each trial
#: that fails doubles the time, so that trials take less than a percent of a busy machine's time.
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 60.0


class Pool(Protocol):
    """A library with threads, as threadpoolctl describes it."""

    num_threads: int

    def set_num_threads(self, num_threads: int) -> Any:
        """Sets the number of threads."""
        ...


def interruptions() -> int:
    """Returns how often the operating system has taken a core from this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw if resource is not None else 0


class BusyMonitor:
    """Gives libraries one thread while other programs use the cores, and their threads otherwise.

    Args:
        pools: The libraries.
        count: Returns the number of interruptions of this process so far.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        pools: Sequence[Pool],
        count: Callable[[], int] = interruptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pools = [(pool, pool.num_threads) for pool in pools]
        self._count, self._clock = count, clock
        self._last = count()
        self._pause = FIRST_PAUSE
        self._changed = float("-inf")  # no trial has failed yet
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        #: Whether libraries have one thread at the moment.
        self.is_limited = False

    def look(self) -> None:
        """Reads the count, and limits the threads or gives them back."""
        now, count = self._clock(), self._count()
        new, self._last = count - self._last, count
        if self.is_limited:
            if new >= BUSY:
                self._changed = now  # even one thread is interrupted
            elif now - self._changed >= self._pause:
                self._set(False, now)
        elif new >= BUSY:
            # A trial that fails at once was too early. After a long peace, begin anew.
            is_relapse = now - self._changed < self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE) if is_relapse else FIRST_PAUSE
            self._set(True, now)

    def _set(self, limited: bool, now: float) -> None:
        self.is_limited, self._changed = limited, now
        for pool, threads in self._pools:
            pool.set_num_threads(1 if limited else threads)

    def start(self) -> None:
        """Starts to look in a thread of its own."""
        # A machine that is busy already need not be tried.
        if _load() >= 0.5 and any([threads > 1 for _, threads in self._pools]):
            self._set(True, self._clock())
        self._thread = threading.Thread(target=self._run, name="chainer-busy", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(INTERVAL):
            self.look()

    def restore_original_limits(self) -> None:
        """Stops, and gives the libraries their threads back. Named as threadpoolctl's method."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._set(False, self._clock())


def _load() -> float:
    """Returns the load of the last minute for each core that this process may use."""
    if not hasattr(os, "getloadavg"):
        return 0.0
    return os.getloadavg()[0] / available_cores()


def available_cores() -> int:
    """Returns the number of cores that this process may use."""
    # A container or `taskset` may allow fewer cores than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
