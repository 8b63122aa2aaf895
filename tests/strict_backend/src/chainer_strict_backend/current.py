"""The current device of each thread."""

from __future__ import annotations

import threading

#: How many devices there are.
COUNT = 2


class _State(threading.local):
    index = 0


_state = _State()


def get() -> int:
    """Returns the index of the current device."""
    return _state.index


def set(index: int) -> int:
    """Makes a device current and returns the index of the previous one.

    Args:
        index: Index of the device.
    """
    previous = _state.index
    _state.index = index
    return previous
