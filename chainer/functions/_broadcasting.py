"""Broadcasting of raw arrays to a shape, and the sum that undoes it."""

from __future__ import annotations

from math import prod

import numpy

from chainer.backends.operations.reductions import axes_sum
from chainer.core.typing import Array, ArrayModule, Shape

#: Number of elements up to which filling a new array is faster than making a broadcast view. The
#: view takes NumPy about 4 us.
_FILLED_SIZE = 4096


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
    lead = x.ndim - len(shape)
    axes = [*range(lead)]
    axes += [lead + i for i, n in enumerate(shape) if n == 1 and x.shape[lead + i] != 1]
    return axes_sum.select(x).forward(x, tuple(axes), True).reshape(shape)
