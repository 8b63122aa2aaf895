"""Signals: ending a training loop by SIGTERM, and Ctrl-C while processes start."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class _Deferred:
    """The end of a program that has to wait for code which must not end midway.

    Attributes:
        depth: Number of such pieces of code that the main thread is in.
        status: Exit status, if the signal has come meanwhile.
    """

    depth = 0
    status: int | None = None

    def exit(self) -> None:
        """Ends the program, unless a piece of code around this one has to be completed."""
        if self.depth == 0:
            status, self.status = self.status, None
            raise SystemExit(status)


#: While its depth is positive, SIGTERM waits for :meth:`_Deferred.exit`.
deferred = _Deferred()


@contextmanager
def interrupts_blocked() -> Generator[None]:
    """Holds Ctrl-C back while a process starts, which then never gets it.

    A terminal sends Ctrl-C to all processes of a program. The one that the user waits for decides
    about the others. It must not miss it either: Python drops a KeyboardInterrupt in the callbacks
    that it runs while a process starts.

    Example:
        >>> import multiprocessing
        >>> from chainer.core.utils.termination import interrupts_blocked
        >>> process = multiprocessing.Process(target=print)
        >>> with interrupts_blocked():
        ...     process.start()
        >>> process.join()
    """
    if not hasattr(signal, "pthread_sigmask"):  # not a POSIX system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def sigterm_raises_system_exit() -> Generator[None]:
    """Inside the block SIGTERM raises SystemExit, as Ctrl-C raises KeyboardInterrupt.

    Job schedulers end programs by this signal, which by default kills a process without finalizing
    anything. A handler that the program installed itself is respected, and outside the main thread,
    where Python allows no handlers, nothing changes. Forked children (such as workers of iterators)
    are ended by the signal as usual.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    # A forked child inherits the handler, and would unwind the stack of its parent.
    owner = os.getpid()

    def handle(number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
            return
        if deferred.depth and deferred.status is None:
            deferred.status = 128 + number
        else:  # a second signal does not wait
            deferred.status = None
            raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
