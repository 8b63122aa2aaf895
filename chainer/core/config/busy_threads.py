"""Threads of BLAS that give way on busy machines: ``chainer.config.blas_threads = 'auto'``.

While the threads of BLAS or OpenMP wait for each other, they keep their cores busy. If another
program has one of the cores, each product of matrices waits for a thread that does not run. The
operating system then takes cores away from this process while it works, and counts this. So a
monitor reads that count some fifty times a second. Where it grows, BLAS libraries get one thread,
which waits for no other, and threads of GNU OpenMP sleep while they wait
(:mod:`chainer.core.config.openmp_waiting`). Providers with threads of their own give way, too
(:func:`chainer.core.config.blas_threads.add_pool`). After a while without interruptions all is
undone, on trial.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from chainer.core.config.openmp_waiting import OpenMPWaiting

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


#: Seconds from one search for libraries that were loaded meanwhile to the next, on a busy machine.
SEARCH = 1.0


class Library(Protocol):
    """A library with threads, as threadpoolctl describes it."""

    user_api: str
    prefix: str
    filepath: str
    dynlib: Any

    @property
    def num_threads(self) -> int | None:
        """The number of threads."""
        ...

    def set_num_threads(self, num_threads: int) -> Any:
        """Sets the number of threads."""
        ...


class Pool(Protocol):
    """Threads that give way."""

    def give_way(self) -> None:
        """Lets other programs have the cores. Called again, it changes nothing."""
        ...

    def take_back(self) -> None:
        """Undoes what :meth:`give_way` did."""
        ...


class BlasThreads:
    """Threads of a BLAS library: one while others use the cores.

    Args:
        library: The library.
    """

    def __init__(self, library: Library) -> None:
        self._library, self._before = library, library.num_threads

    def give_way(self) -> None:
        """Gives the library one thread."""
        self._before = self._library.num_threads
        self._library.set_num_threads(1)

    def take_back(self) -> None:
        """Gives the library the threads that it had."""
        self._library.set_num_threads(self._before or 1)

    def lower(self, count: int) -> None:
        """Remembers at most that many threads."""
        self._before = min(self._before or 1, count)


def _pool(library: Library) -> Pool | None:
    if library.user_api == "blas":
        return BlasThreads(library)
    if library.prefix == "libgomp":
        return OpenMPWaiting(library.dynlib)
    # The number of threads of OpenMP belongs to the thread that sets it: of no use from here.
    return None


def interruptions() -> int:
    """Returns how often the operating system has taken a core from this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw if resource is not None else 0


class BusyMonitor:
    """Makes the threads of libraries give way while other programs use the cores.

    Args:
        find: Returns the libraries of this process that have threads.
        count: Returns the number of interruptions of this process so far.
        clock: Returns the time in seconds.
        added: Pools of providers, which may become more.
    """

    def __init__(
        self,
        find: Callable[[], Iterable[Library]],
        count: Callable[[], int] = interruptions,
        clock: Callable[[], float] = time.monotonic,
        added: Sequence[Pool] = (),
    ) -> None:
        self._find, self._count, self._clock = find, count, clock
        self._added = added
        #: What gives way, by the path of the library; None if nothing can.
        self._pools: dict[str, Pool | None] = {}
        self._searched = float("-inf")
        #: Held while pools change, or begin to be held.
        self._changing = threading.RLock()
        #: How many comparisons need the same number of threads until they end.
        self._comparisons = 0
        self._last = count()
        self._pause = FIRST_PAUSE
        self._changed = float("-inf")  # no trial has failed yet
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        #: Whether the threads give way at the moment.
        self.is_limited = False

    def look(self) -> None:
        """Reads the count, and limits the threads or gives them back."""
        with self._changing:
            if not self._comparisons:  # else the next time, with the interruptions until then
                self._look()

    def _look(self) -> None:
        now, count = self._clock(), self._count()
        new, self._last = count - self._last, count
        if self.is_limited:
            if new >= BUSY:
                self._changed = now
                if now - self._searched >= SEARCH:
                    self._give_way(now)
            elif now - self._changed >= self._pause:
                self._set(False, now)
        elif new >= BUSY:
            # A trial that fails at once was too early. After a long peace, begin anew.
            is_relapse = now - self._changed < self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE) if is_relapse else FIRST_PAUSE
            self._set(True, now)

    @contextmanager
    def unchanged(self) -> Generator[None, None, None]:
        """Keeps the numbers of threads in a ``with`` block."""
        with self._changing:
            self._comparisons += 1
        try:
            yield
        finally:
            with self._changing:
                self._comparisons -= 1

    def _set(self, limited: bool, now: float) -> None:
        with self._changing:
            self.is_limited, self._changed = limited, now
            for pool in (*self._pools.values(), *self._added):
                if pool is None:
                    continue
                if limited:
                    pool.give_way()
                else:
                    pool.take_back()
            if limited:
                self._give_way(now)

    def _give_way(self, now: float) -> None:
        """Makes libraries give way that were loaded since the last search."""
        self._searched = now
        for library in self._find():
            if library.filepath not in self._pools:
                pool = self._pools[library.filepath] = _pool(library)
                if pool is not None:
                    pool.give_way()

    def begin(self, pool: Pool) -> None:
        """Makes a pool give way that was added a moment ago, if the others do."""
        with self._changing:
            if self.is_limited:
                pool.give_way()

    def lower_blas_threads(self, count: int) -> None:
        """Gives BLAS libraries at most that many threads back."""
        with self._changing:
            for pool in self._pools.values():
                if isinstance(pool, BlasThreads):
                    pool.lower(count)

    def start(self) -> None:
        """Starts to look in a thread of its own."""
        # A machine that is busy already need not be tried.
        if _load() >= 0.5:
            self._set(True, self._clock())
        self._begin()

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._run, name="chainer-busy", daemon=True)
        self._thread.start()

    def renew(self) -> None:
        """Goes on in a process that was forked: threads are gone, and may have held the lock."""
        self._changing, self._comparisons = threading.RLock(), 0
        if self._thread is not None and not self._stopped.is_set():
            self._begin()

    def _run(self) -> None:
        while not self._stopped.wait(INTERVAL):
            self.look()

    def restore_original_limits(self) -> None:
        """Stops, and undoes what was changed. Named as threadpoolctl's method."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        if self.is_limited:
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
