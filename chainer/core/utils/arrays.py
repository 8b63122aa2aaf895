"""Small helpers for writers of functions."""

from __future__ import annotations

import numpy

from chainer.core.typing import Array, ArrayLike, DTypeLike


def force_array(x: ArrayLike, dtype: DTypeLike = None) -> Array:
    """Returns an array also for the scalars that NumPy makes of 0-dimensional results.

    Args:
        x: Array or scalar.
        dtype: Data type of the result; that of ``x`` by default.

    Returns:
        array: ``x`` itself if it is an array of that data type.
    """
    if numpy.isscalar(x):
        return numpy.array(x) if dtype is None else numpy.array(x, dtype)
    return x if dtype is None else x.astype(dtype, copy=False)


def force_type(dtype: DTypeLike, value: ArrayLike) -> ArrayLike:
    """Returns a scalar in a data type; arrays are returned as they are.

    Args:
        dtype: Data type.
        value: Array or scalar.

    Raises:
        ValueError: If ``value`` is an array of another data type.
    """
    if numpy.isscalar(value):
        return numpy.dtype(dtype).type(value)
    if value.dtype != dtype:
        raise ValueError(f"cannot convert an array of dtype {value.dtype} to {numpy.dtype(dtype)}")
    return value


def size_of_shape(shape: tuple[int, ...]) -> int:
    """Returns the number of elements of an array of a shape."""
    size = 1
    for length in shape:
        size *= length
    return size
