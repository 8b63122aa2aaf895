"""Choice of elements by a condition, for functions whose gradient is zero elsewhere.

A product with a mask of zeros and ones is not enough: zero times infinity or NaN is NaN, and
programs hide such elements by a condition.
"""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule
from chainer.functions.rules.base import Ops, Value

#: Number of elements from which on bit operations are faster than ``numpy.where``.
_BITWISE_SIZE = 2048


def choose(xp: ArrayModule, condition: Array, x: Array, y: Array) -> Any:
    """Returns the elements of one array where a condition holds, of another elsewhere.

    Args:
        xp: Array namespace.
        condition: Condition, bool.
        x: Elements where it holds. Shapes are broadcast.
        y: Elements where it does not, of the same dtype.
    """
    if not (condition.shape == x.shape == y.shape and _suits_bits(xp, condition, x)):
        return xp.where(condition, x, y)
    # numpy.where branches at every element, which costs ten times as much as these passes where the
    # condition is not predictable.
    mask = _bit_mask(condition, x)
    x_bits = numpy.ascontiguousarray(x).view(mask.dtype)
    y_bits = numpy.ascontiguousarray(y).view(mask.dtype)
    chosen = x_bits ^ y_bits
    chosen &= mask
    chosen ^= y_bits
    return chosen.view(x.dtype)


def keep(ops: Ops, xp: ArrayModule, condition: Array, value: Value) -> Value:
    """Returns an array or a Variable where a condition holds, 0 elsewhere.

    Args:
        ops: Functions for arrays or for Variables.
        xp: Array namespace.
        condition: Condition, bool.
        value: Floating-point array or Variable. Shapes are broadcast.
    """
    if (
        not isinstance(value, Variable)
        and condition.shape == value.shape
        and _suits_bits(xp, condition, value)
    ):
        mask = _bit_mask(condition, value)
        mask &= numpy.ascontiguousarray(value).view(mask.dtype)
        return mask.view(value.dtype)
    return ops.where(condition, value, xp.zeros((), value.dtype))


def _suits_bits(xp: ArrayModule, condition: Array, x: Array) -> bool:
    return xp is numpy and condition.size >= _BITWISE_SIZE and x.dtype.itemsize in (2, 4, 8)


def _bit_mask(condition: Array, x: Array) -> Array:
    """Returns integers as wide as the elements of ``x``, whose bits are all 1 or all 0."""
    mask = condition.astype(f"i{x.dtype.itemsize}")
    return numpy.negative(mask, out=mask)
