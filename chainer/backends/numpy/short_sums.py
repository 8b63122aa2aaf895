"""Sums over an axis that NumPy computes slowly, by other calls of NumPy with the same bits.

``numpy.add.reduce`` takes 10 us to sum an array of shape (24, 24, 3) over its last axis, and 140 us
for (5000, 3): it starts a loop for each sum of three numbers. With the axis in front it adds whole
rows, in the same order. A copy in that order and its sum take 4 and 9 us.
"""

from __future__ import annotations

from functools import cache
from math import prod

import numpy

from chainer.core.typing import Array, DType

#: Smaller arrays are summed in a microsecond or two.
_FEWEST_ELEMENTS = 512

#: Longer last axes have a sum of partial sums in NumPy, which is another order.
_LONGEST_LAST_AXIS = 7

#: With longer rows, the loops of NumPy take less time than the copy.
_LONGEST_ROWS = 16


def short_sum(x: Array, axis: int) -> Array | None:
    """Returns the sum over an axis; None if NumPy computes it as fast by itself.

    Args:
        x: Array in host memory.
        axis: Axis, not negative.
    """
    if x.size < _FEWEST_ELEMENTS or axis == 0 or not x.flags.c_contiguous:
        return None
    shape = x.shape
    rows = prod(shape[axis + 1 :])
    longest = _LONGEST_LAST_AXIS if axis == len(shape) - 1 else shape[axis]
    if shape[axis] > longest or shape[axis] < 2 or rows > _LONGEST_ROWS:
        return None
    return _sum(x, axis, rows) if _adds_in_order(x.dtype) else None


def _sum(x: Array, axis: int, rows: int) -> Array:
    shape = x.shape
    front = x.reshape(-1, shape[axis], rows).swapaxes(0, 1).copy()
    y = numpy.add.reduce(front, axis=0)
    y += 0  # NumPy's loops begin with zero, and the sum of negative zeros is zero
    return y.reshape(shape[:axis] + shape[axis + 1 :])


@cache
def _adds_in_order(dtype: DType) -> bool:
    """Returns whether both ways give the same bits: the order of NumPy is not documented."""
    if dtype.char not in "fd":
        return False
    values = numpy.random.RandomState(0).standard_normal(7 * 128).astype(dtype)
    values[::5] = -0.0
    last, middle = values.reshape(128, 7), values.reshape(8, 7, 16)
    return (
        _sum(last, 1, 1).tobytes() == numpy.add.reduce(last, axis=1).tobytes()
        and _sum(middle, 1, 16).tobytes() == numpy.add.reduce(middle, axis=1).tobytes()
    )
