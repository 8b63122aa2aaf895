"""Worker threads, each of which computes one part of a call.

Beside oneDNN, :mod:`chainer_numba.openmp` takes their place.

The threads are Python's: a compiled loop does not hold the global interpreter lock. Unlike the
pools of Numba, they may be used from several threads at once and after a fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy

#: How often a waiting thread polls a flag before it sleeps. A polling thread continues at once, but
#: waking a sleeping one takes 20 to 100 microseconds, as long as a loop over some 100,000 elements.
#: Each poll takes half a microsecond and yields the processor to other threads, such as threads of
#: BLAS. 200 polls last some 100 microseconds: about the time that Python needs between two calls.
POLLS = 200 if hasattr(os, "sched_yield") else 0
#: Polls after the flag has the value. The thread that set the flag holds the interpreter's lock for
#: another microsecond or two; a thread that asks for that lock too early is put to sleep.
_LAST_POLLS = 3

_ExternalFunction: Any = numba.types.ExternalFunction  # pyright: ignore[reportPrivateImportUsage]
#: Yields the processor. From the C library, because os.sched_yield() needs the interpreter's lock.
_yield = _ExternalFunction("sched_yield", numba.types.int32())  # pyright: ignore[reportPrivateImportUsage]


def _poll(flag, value, polls):
    """Polls a flag until it has reached a value, at most ``polls`` times."""
    for _ in range(polls):
        if flag[0] >= value:
            for _ in range(_LAST_POLLS):
                _yield()
            return
        _yield()


if POLLS:
    _poll = numba.njit(cache=True, nogil=True)(_poll)


class Signal:
    """A number that one thread raises, and that another one waits for.

    Attributes:
        value: The number.
    """

    __slots__ = ("_flag", "_lock", "value")

    def __init__(self) -> None:
        self.value = 0
        # A copy of the number for compiled code. 128 bytes, so that no other data shares its cache
        # line.
        self._flag = numpy.zeros(16, numpy.int64)
        self._lock = threading.Lock()
        self._lock.acquire()

    def send(self) -> None:
        """Raises the number by one."""
        self.value += 1
        self._flag[0] = self.value
        # Only the waiting thread locks it. If it is not locked, that thread is awake.
        if self._lock.locked():
            self._lock.release()

    def wait(self, value: int) -> None:
        """Returns when the number has reached a value.

        Args:
            value: The value.
        """
        _poll(self._flag, value, POLLS)
        while self.value < value:
            self._lock.acquire()


class Worker:
    """A thread that makes calls for other threads, one at a time."""

    def __init__(self, number: int) -> None:
        self._order: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
        self._error: BaseException | None = None
        self._ordered, self._done = Signal(), Signal()
        threading.Thread(target=self._run, name=f"chainer-numba {number}", daemon=True).start()

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Starts a call; :meth:`wait` has to follow.

        Args:
            function: The function.
            arguments: Its arguments.
        """
        self._order = function, arguments
        self._ordered.send()

    def wait(self) -> BaseException | None:
        """Waits until the call has ended.

        Returns:
            BaseException: The error that it raised, or None.
        """
        interrupt: KeyboardInterrupt | None = None
        while self._done.value < self._ordered.value:
            try:
                self._done.wait(self._ordered.value)
            except KeyboardInterrupt as error:
                # Keep waiting: the thread still writes to arrays, which would be freed.
                interrupt = error
        error, self._error = self._error, None
        return interrupt or error

    def _run(self) -> None:
        while True:
            self._ordered.wait(self._done.value + 1)
            assert self._order is not None
            function, arguments = self._order
            try:
                function(*arguments)
            except BaseException as error:  # raised again by the thread that waits
                self._error = error
            # The caller may free its arrays once it continues, so no reference may stay here.
            del function, arguments
            self._order = None
            self._done.send()


class _Team:
    """All workers of a process. ``lock`` is held while a call uses them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.workers: list[Worker] = []


_team = _Team()


def _forget_team() -> None:
    # A fork copies the objects but not their threads.
    global _team
    _team = _Team()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_team)


#: What runs parts in place of the workers.
_run_elsewhere: Callable[..., None] | None = None


def run_elsewhere(run: Callable[..., None] | None) -> None:
    """Sets what runs parts in place of the workers.

    Args:
        run: Function with the arguments of :func:`run_parts`; None for the workers.
    """
    global _run_elsewhere
    _run_elsewhere = run


def run_parts(loop: Callable[..., Any], bounds: Sequence[int], arguments: tuple[Any, ...]) -> None:
    """Calls a loop once for each part, and each part on another thread.

    Args:
        loop: Compiled loop with the signature ``loop(part, start, stop, *arguments)``.
        bounds: Start of each part, followed by the end of the last part.
        arguments: Further arguments of the loop.
    """
    parts = len(bounds) - 1
    team = _team
    if not team.lock.acquire(blocking=False):
        # Another thread of the program uses the workers. This thread computes all parts by itself;
        # the parts stay the same, so the result has the same bits.
        for i in range(parts):
            loop(i, bounds[i], bounds[i + 1], *arguments)
        return
    if _run_elsewhere is not None:
        try:
            _run_elsewhere(loop, bounds, arguments)
        finally:
            team.lock.release()
        return
    started: list[Worker] = []
    errors: list[BaseException | None] = []
    try:
        for i in range(1, parts):
            if len(team.workers) < i:
                team.workers.append(Worker(i))
            worker = team.workers[i - 1]
            worker.start(loop, i, bounds[i], bounds[i + 1], *arguments)
            started.append(worker)
        loop(0, bounds[0], bounds[1], *arguments)
    finally:
        # Also after an error: no thread may write to arrays that were freed.
        errors = [worker.wait() for worker in started]
        team.lock.release()
    for error in errors:
        if error is not None:
            raise error
