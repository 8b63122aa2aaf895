"""The current device of a backend: for each thread, and in blocks for each asyncio task."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any

from chainer.core.arguments import wrong_type
from chainer.core.safe_exit import safe_exit
from chainer.core.task_local import TaskLocal


class CurrentDevice:
    """The index of the current device, for a backend with several devices.

    :meth:`Backend.use` returns what :meth:`use` returns, and :meth:`Backend.device` reads
    :attr:`index`. A device that is made current for good belongs to the thread, as in earlier
    releases. The device of a ``with`` block belongs to the asyncio task that is in the block, and
    to tasks which it starts there. So two tasks may compute on two devices in turns.

    Args:
        index: Index of the device that is current in a new thread. Default: 0.

    Example:
        >>> current = chainer.backend.CurrentDevice()
        >>> with current.use(1):
        ...     print(current.index)
        1
        >>> current.index
        0
    """

    def __init__(self, index: int = 0) -> None:
        self._thread = _OfThread(_checked(index))
        # None outside of blocks.
        self._block: TaskLocal[int | None] = TaskLocal("chainer current device", None)

    @property
    def index(self) -> int:
        """Index of the device that is current here."""
        index = self._block.get()
        return self._thread.index if index is None else index

    def use(self, index: int) -> AbstractContextManager[Any]:
        """Makes a device current, at once and until the returned context manager exits.

        Args:
            index: Index of the device.
        """
        return Use(self._thread, self._block, _checked(index))

    def __repr__(self) -> str:
        return f"CurrentDevice(index={self.index})"


def _checked(index: int) -> int:
    if isinstance(index, bool) or not isinstance(index, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("index", "an integer", index)
    if index < 0:
        raise ValueError(f"index must not be negative, got {index}")
    return index


class _OfThread(threading.local):
    def __init__(self, index: int) -> None:
        self.index = index


class Use:
    """Makes a device current at once, and the previous one again at the end.

    Attributes:
        is_entered: Whether a ``with`` block of it has begun, and not ended.
    """

    def __init__(self, thread: _OfThread, block: TaskLocal[int | None], index: int) -> None:
        self._block, self._before = block, block.get()
        self.is_entered = False
        self._index = index
        if self._before is None:
            # Outside of blocks the whole thread gets the device, until __enter__ is called.
            self._thread, self._before_in_thread = thread, thread.index
            thread.index = index
        else:
            self._thread = None
            block.set(index)

    def __enter__(self) -> None:
        self.is_entered = True
        # In this order: an interrupt between them leaves the previous device.
        if self._thread is not None:
            self._thread.index = self._before_in_thread
        self._block.set(self._index)

    def _depth(self) -> int:
        return int(self.is_entered)

    @safe_exit
    def __exit__(self, *_: object) -> None:
        self._block.set(self._before)
        self.is_entered = False
