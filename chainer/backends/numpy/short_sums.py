"""Sums over an axis that NumPy computes slowly, by other calls of NumPy with the same bits.

``numpy.add.reduce`` takes 12 us to sum an array of shape (24, 24, 3) over its last axis, and 140 us
for (5000, 3): it starts a loop for each sum of three numbers. Adding the three slices takes 4 and
9 us, and adds the same numbers in the same order. So does a sum of whole rows, after a copy with
the axis in front.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod

import numpy

from chainer.core.typing import Array, DType, Shape

#: Smaller arrays are summed in a microsecond or two.
FEWEST_ELEMENTS = 512

#: Longer last axes have a sum of partial sums in NumPy, which is another order.
_LONGEST_LAST_AXIS = 7

#: With longer rows, the loops of NumPy take less time than the copy.
_LONGEST_ROWS = 16

#: Rows of at most this length are copied element by element along the axes before them, where loops
#: are longer: for (24, 24, 3) a sum takes 5 us in place of 9.
_SHORT_ROWS = 8


def short_sum(x: Array, axis: int) -> Array | None:
    """Returns the sum over an axis; None if NumPy computes it as fast by itself.

    Args:
        x: Array in host memory.
        axis: Axis, not negative.
    """
    if axis == 0 or x.size < FEWEST_ELEMENTS or not x.flags.c_contiguous:
        return None
    way = _way(x.shape, axis)
    return way(x, axis) if way is not None and _adds_in_order(x.dtype) else None


# Remembered: the tests below take as long as a small sum.
@lru_cache(maxsize=512)
def _way(shape: Shape, axis: int) -> Callable[[Array, int], Array] | None:
    """Returns the function that sums fastest."""
    rows = prod(shape[axis + 1 :])
    if shape[axis] < 2 or rows > _LONGEST_ROWS:
        return None
    if axis == len(shape) - 1:
        return _sum_of_slices if shape[axis] <= _LONGEST_LAST_AXIS else None
    return _sum_of_columns if rows <= _SHORT_ROWS else _sum_of_rows


def _sum_of_slices(x: Array, axis: int) -> Array:
    """Sums over the last axis."""
    shape = x.shape
    slices = x.reshape(-1, shape[axis]).T
    y = slices[0] + slices[1]
    for i in range(2, len(slices)):
        y += slices[i]
    y += _zero(y.dtype)
    return y.reshape(shape[:axis])


def _sum_of_rows(x: Array, axis: int) -> Array:
    shape = x.shape
    front = x.reshape(-1, shape[axis], prod(shape[axis + 1 :])).swapaxes(0, 1).copy()
    y = numpy.add.reduce(front, 0)
    y += _zero(y.dtype)
    return y.reshape(shape[:axis] + shape[axis + 1 :])


def _sum_of_columns(x: Array, axis: int) -> Array:
    shape = x.shape
    front = x.reshape(-1, shape[axis], prod(shape[axis + 1 :])).transpose(1, 2, 0).copy()
    y = numpy.add.reduce(front, 0)
    y += _zero(y.dtype)
    return y.T.reshape(shape[:axis] + shape[axis + 1 :])


@cache
def _zero(dtype: DType) -> Array:
    """Returns what is added to each sum: NumPy's loops begin with zero.

    So the sum of negative zeros is zero. NumPy takes an array faster than a Python number.
    """
    return numpy.zeros((), dtype)


@cache
def _adds_in_order(dtype: DType) -> bool:
    """Returns whether all ways give the same bits: the order of NumPy is not documented."""
    if dtype.char not in "fd":
        return False
    values = numpy.random.RandomState(0).standard_normal(7 * 128).astype(dtype)
    values[::5] = -0.0
    last, middle = values.reshape(128, 7), values.reshape(8, 7, 16)
    narrow = values.reshape(32, 7, 4)
    return (
        _sum_of_slices(last, 1).tobytes() == numpy.add.reduce(last, axis=1).tobytes()
        and _sum_of_rows(middle, 1).tobytes() == numpy.add.reduce(middle, axis=1).tobytes()
        and _sum_of_columns(narrow, 1).tobytes() == numpy.add.reduce(narrow, axis=1).tobytes()
    )
