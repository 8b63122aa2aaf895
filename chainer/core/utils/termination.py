"""Ending a training loop by the signal SIGTERM."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


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
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
