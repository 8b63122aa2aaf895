"""Threads that do a part of a call each.

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

#: Looks at a flag before a thread sleeps. Waking a sleeping thread takes 20 to 100 microseconds, as
#: long as a loop over some 100,000 elements; a thread that looks at a flag goes on at once. A look
#: takes half a microsecond, and lets other threads have the processor, such as those of BLAS. So a
#: thread waits some 100 microseconds before it sleeps: about as long as Python takes between calls.
LOOKS = 200 if hasattr(os, "sched_yield") else 0
#: Looks after the flag has the value. The thread that set it has the interpreter's lock for another
#: microsecond or two, and a thread that asks for that lock meanwhile is put to sleep.
_LAST_LOOKS = 3

_ExternalFunction: Any = numba.types.ExternalFunction  # pyright: ignore[reportPrivateImportUsage]
#: Lets another thread have the processor. From the C library: Python's function needs the lock.
_yield = _ExternalFunction("sched_yield", numba.types.int32())  # pyright: ignore[reportPrivateImportUsage]


def _look(flag, value, looks):
    """Looks at a flag until it has a value, at most as often as told."""
    for _ in range(looks):
        if flag[0] >= value:
            for _ in range(_LAST_LOOKS):
                _yield()
            return
        _yield()


if LOOKS:
    _look = numba.njit(cache=True, nogil=True)(_look)


class Signal:
    """A number that one thread raises, and that another one waits for.

    Attributes:
        value: The number.
    """

    __slots__ = ("_flag", "_lock", "value")

    def __init__(self) -> None:
        self.value = 0
        # The number again, where compiled code sees it; a line of the cache of its own.
        self._flag = numpy.zeros(16, numpy.int64)
        self._lock = threading.Lock()
        self._lock.acquire()

    def send(self) -> None:
        """Raises the number by one."""
        self.value += 1
        self._flag[0] = self.value
        # Only the other thread locks it. If it is not locked, that thread does not sleep.
        if self._lock.locked():
            self._lock.release()

    def wait(self, value: int) -> None:
        """Returns when the number has reached a value.

        Args:
            value: The value.
        """
        _look(self._flag, value, LOOKS)
        while self.value < value:
            self._lock.acquire()


class Worker:
    """A thread that calls a function when it is told to."""

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
                # The thread still writes to arrays that would be freed.
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
            # The caller's arrays must be free when it goes on.
            del function, arguments
            self._order = None
            self._done.send()


class _Team:
    """The workers of a process."""

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


def run_parts(loop: Callable[..., Any], bounds: Sequence[int], arguments: tuple[Any, ...]) -> None:
    """Calls a loop for each part, each on a thread of its own.

    Args:
        loop: The loop; gets number, begin and end of its part, and the arguments.
        bounds: Begin of each part, and the end of the last one.
        arguments: Further arguments of the loop.
    """
    parts = len(bounds) - 1
    team = _team
    if not team.lock.acquire(blocking=False):
        # Another thread of the program uses the workers. The parts are the same, and so the result.
        for i in range(parts):
            loop(i, bounds[i], bounds[i + 1], *arguments)
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
        # Also after an error: no thread may write to arrays that are free already.
        errors = [worker.wait() for worker in started]
        team.lock.release()
    for error in errors:
        if error is not None:
            raise error
