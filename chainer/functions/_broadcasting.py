"""Broadcasting of raw arrays to a shape, and the sum that undoes it."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy

from chainer.backends.operations.reductions import axes_sum
from chainer.core.typing import Array, ArrayModule, Shape

#: Number of elements up to which filling a new array is faster than making a broadcast view. The
#: view takes NumPy about 5 us, and a product with it takes up to twice as long as with an array.
_FILLED_SIZE = 1 << 14


def broadcast_array(xp: ArrayModule, x: Array, shape: Shape) -> Array:
    """Returns an array repeated to a shape; it may be a read-only view.

    Args:
        xp: Array namespace of ``x``.
        x: Array.
        shape: Shape to which ``x`` can be broadcast.
    """
    if x.shape == shape:
        return x
    # Recorded steps do the same: products with a view of stride zero are summed in another order.
    is_numpy = xp is numpy or isinstance(x, numpy.ndarray)
    if is_numpy and prod(shape) <= _FILLED_SIZE:
        y = xp.empty(shape, x.dtype)
        y[...] = x
        return y
    return xp.broadcast_to(x, shape)


def reduce_to_shape(x: Array, shape: Shape) -> Array:
    """Undoes broadcasting: sums an array along the axes along which ``shape`` was repeated.

    Args:
        x: Array.
        shape: Shape that can be broadcast to the shape of ``x``.

    Returns:
        Array of shape ``shape``; ``x`` itself if it has that shape.
    """
    if x.shape == shape:
        return x
    axes = _repeated_axes(x.shape, shape)
    return axes_sum.select(x).forward(x, axes, False).reshape(shape)


# Remembered: finding the axes takes as long as a small sum. A training has a few shapes.
@lru_cache(maxsize=1024)
def _repeated_axes(repeated: Shape, shape: Shape) -> tuple[int, ...]:
    """Returns the axes along which a shape was repeated."""
    lead = len(repeated) - len(shape)
    axes = [lead + i for i, n in enumerate(shape) if n == 1 and repeated[lead + i] != 1]
    return (*range(lead), *axes)
