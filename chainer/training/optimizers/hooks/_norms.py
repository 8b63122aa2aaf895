"""Norms of arrays, computed where the arrays are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.typing import Array

#: Factors, powers of two, that make gradients of a dtype so small that the sum of their squares is
#: finite. They are for gradients of at least the square root of the largest number of the dtype,
#: whose products with them are far from zero. Squares of 16 bits, added in float32, are finite.
_SMALL = {numpy.dtype(numpy.float32): 2.0**-96, numpy.dtype(numpy.float64): 2.0**-600}


def sum_of_squares(array: Array) -> Array:
    """Returns the sum of the squares of the elements: an array without dimensions.

    The result stays on the device, so that the host does not wait for it. float16 is summed in
    float32: squares of float16 overflow at 256.
    """
    array = backend_of(array).to_xp(array)
    wide = array.astype(numpy.float32) if is_half(array.dtype) else array
    flat = wide.reshape(-1)
    return backend_of(flat).xp.asarray(flat.dot(flat))


def finite_norm(arrays: Sequence[Array], squares: Array) -> Array:
    """Returns the L2 norm of arrays, even where the sum of their squares is infinite.

    The result is an array: no value is looked at, so that the host does not wait for a device and a
    captured step may contain the call. It is infinite only if the norm is, or an element.

    Args:
        arrays: Arrays of one device and dtype.
        squares: The sum of their squares. It may be of a wider dtype than the arrays.
    """
    small = _SMALL.get(arrays[0].dtype)
    xp = backend_of(squares).xp
    norm = xp.sqrt(squares)
    if small is None or squares.dtype != arrays[0].dtype:
        return norm
    # One by one: products of all arrays would take the memory of all gradients.
    reduced = functools.reduce(operator.add, [_small_squares(array, small) for array in arrays])
    return xp.where(xp.isfinite(squares), norm, xp.sqrt(reduced) / small)


def _small_squares(array: Array, factor: float) -> Array:
    # Of a flat array: the product of an array without dimensions is a scalar in NumPy.
    return sum_of_squares(backend_of(array).to_xp(array).reshape(-1) * factor)
