"""ChainerX is not a part of Chainer 8; this module says so to programs that ask.

Programs written for Chainer 6 and 7 import ``chainerx`` without a condition and then ask
:func:`is_available`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["is_available", "ndarray"]


def is_available() -> bool:
    """Returns whether ChainerX can be used: False."""
    return False


class ndarray:
    """Class of no object, for ``isinstance``.

    Raises:
        RuntimeError: When it is instantiated.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("ChainerX is not available.")
