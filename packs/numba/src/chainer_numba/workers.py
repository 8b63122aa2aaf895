"""The parts of a call on several threads.

Parts run on the threads of :mod:`chainer_numba.native_threads`, and beside oneDNN on those of
:mod:`chainer_numba.openmp`. On other systems than Linux they run on threads of Python, since a
compiled loop does not hold the global interpreter lock. Unlike the pools of Numba, all of these may
be used from several threads at once and after a fork.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy

from chainer_numba import divided_calls, native_threads

#: How often a waiting thread polls a flag before it sleeps. A polling thread continues at once, but
#: waking a sleeping one takes 20 to 100 microseconds, as long as a loop over some 100,000 elements.
#: Each poll takes half a microsecond and yields the processor to other threads, such as threads of
#: BLAS. 200 polls last some 100 microseconds: about the time that Python needs between two calls.
POLLS = 200 if hasattr(os, "sched_yield") else 0
#: Polls after the flag has the value. The thread that set the flag holds the interpreter's lock for
#: another microsecond or two; a thread that asks for that lock too early is put to sleep.
_LAST_POLLS = 3

_Dispatcher: Any = numba.core.dispatcher.Dispatcher  # pyright: ignore[reportAttributeAccessIssue]
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


#: Address of a function that takes the place of ``run`` of the native threads.
_run_elsewhere: int | None = None

_Part = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)
# Foreign functions of ctypes release the interpreter's lock, which parts in Python then take.
_Run = ctypes.CFUNCTYPE(None, _Part, ctypes.c_void_p, ctypes.c_int)


def run_elsewhere(run: int | None) -> None:
    """Sets what runs parts in place of the native threads.

    Args:
        run: Address of a function as :func:`chainer_numba.native_threads.run_with` returns it; None
            for the native threads.
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
    try:
        run = _run_elsewhere or native_threads.run_with(parts - 1)
        if run is None:
            _run_on_workers(team, loop, bounds, arguments)
        elif loop not in divided_calls.TABLES and not isinstance(loop, _Dispatcher):
            _run_python(run, loop, bounds, arguments)
        elif not divided_calls.call(loop, run, bounds, arguments):
            # A part has failed. Calling it from Python raises its error.
            for i in range(parts):
                loop(i, bounds[i], bounds[i + 1], *arguments)
    finally:
        team.lock.release()


def _run_python(
    run: int, loop: Callable[..., Any], bounds: Sequence[int], arguments: tuple[Any, ...]
) -> None:
    """Runs a loop that is not compiled."""
    errors: list[BaseException] = []

    def part(_: int, i: int) -> None:
        try:
            loop(i, bounds[i], bounds[i + 1], *arguments)
        except BaseException as error:  # raised again by the calling thread
            errors.append(error)

    # All parts end, also after an error: none may write to arrays that were freed.
    _Run(run)(_Part(part), None, len(bounds) - 1)
    if errors:
        raise errors[0]


def _run_on_workers(
    team: _Team, loop: Callable[..., Any], bounds: Sequence[int], arguments: tuple[Any, ...]
) -> None:
    started: list[Worker] = []
    errors: list[BaseException | None] = []
    try:
        for i in range(1, len(bounds) - 1):
            if len(team.workers) < i:
                team.workers.append(Worker(i))
            worker = team.workers[i - 1]
            worker.start(loop, i, bounds[i], bounds[i + 1], *arguments)
            started.append(worker)
        loop(0, bounds[0], bounds[1], *arguments)
    finally:
        # Also after an error: no thread may write to arrays that were freed.
        errors = [worker.wait() for worker in started]
    for error in errors:
        if error is not None:
            raise error
