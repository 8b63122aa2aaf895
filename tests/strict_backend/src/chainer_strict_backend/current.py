"""The current device of each thread, and of blocks in asyncio tasks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from chainer.core.arrays.current_device import CurrentDevice

#: How many devices there are.
COUNT = 2

_current = CurrentDevice()


def get() -> int:
    """Returns the index of the current device."""
    return _current.index


def use(index: int) -> AbstractContextManager[Any]:
    """Makes a device current, at once and until the context manager exits.

    Args:
        index: Index of the device.
    """
    return _current.use(index)
