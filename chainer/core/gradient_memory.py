"""Memory that the gradients of several variables may share: disjoint parts of one array.

The gradient of a concatenation, for one, is cut into views. Each variable gets its view, which
saves copies of them all. What two variables would both see is copied instead.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.exceptions import TooHardError
from numpy.lib.array_utils import byte_bounds

_ndarray = numpy.ndarray
#: Views that lie between each other, as columns of a matrix do, are compared one by one up to this
#: number of them; more are copied.
_COMPARED = 8
#: Effort after which NumPy gives up finding out whether two views overlap.
_MOST_WORK = 10_000


class _Views:
    """Views of one array that are known to be disjoint.

    Args:
        first: One of them.
    """

    __slots__ = ("arrays", "bounds")

    def __init__(self, first: numpy.ndarray[Any, Any]) -> None:
        self.arrays = [first]
        self.bounds = byte_bounds(first)

    def add(self, array: numpy.ndarray[Any, Any]) -> bool:
        """Adds a view if it overlaps none; returns whether it did."""
        low, high = self.bounds
        start, stop = byte_bounds(array)
        if low < stop and start < high:
            others = self.arrays
            if len(others) >= _COMPARED or any([_overlap(array, other) for other in others]):
                return False
        self.arrays.append(array)
        self.bounds = min(low, start), max(high, stop)
        return True


def add_view(taken: dict[int, Any], owner: int, array: Any) -> bool:
    """Gives a variable an array whose owner's memory others already have some of, if it is free.

    Args:
        taken: Id of an array that owns memory -> None if all of it belongs to others, else the
            array or arrays that variables have. Changed in place.
        owner: Id of the owner of the array's memory, one of ``taken``.
        array: The array.

    Returns:
        bool: False if others have some of the memory, or it is not known that they have not.
    """
    others = taken[owner]
    if others is array or array.__class__ is not _ndarray:
        return False
    if others.__class__ is _ndarray:
        others = taken[owner] = _Views(others)
    return others.__class__ is _Views and others.add(array)


def _overlap(a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> bool:
    try:
        # NumPy documents any number; its stubs know two of them.
        return numpy.shares_memory(a, b, max_work=_MOST_WORK)  # pyright: ignore[reportArgumentType]
    except TooHardError:
        return True
