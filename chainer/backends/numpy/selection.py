"""Choice of elements by a condition, without a branch at each element.

``numpy.where`` branches at every element, which costs several times as much as a few passes with
operations on bits where the condition is not predictable. A product with a mask of zeros and ones
is not a choice: zero times infinity or NaN is NaN, and programs hide such elements by a condition.
"""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.typing import Array, ArrayModule, DType

#: Number of elements from which on operations on bits are faster than ``numpy.where``.
_BITWISE_SIZE = 2048

#: Integers as wide as elements, by the number of bytes.
_INTEGERS = {n_bytes: numpy.dtype(f"i{n_bytes}") for n_bytes in (2, 4, 8)}


def choose(xp: ArrayModule, condition: Array, x: Array, y: Array) -> Any:
    """Returns the elements of one array where a condition holds, of another elsewhere.

    Args:
        xp: Array namespace.
        condition: Condition, bool.
        x: Elements where it holds. Shapes are broadcast.
        y: Elements where it does not, of the same dtype.
    """
    integers = _integers_for(xp, condition, x)
    if integers is None or y.shape != x.shape:
        return xp.where(condition, x, y)
    chosen = condition.astype(integers)
    y_bits = y.view(integers)
    chosen *= x.view(integers) ^ y_bits
    chosen ^= y_bits
    return chosen.view(x.dtype)


def keep(xp: ArrayModule, condition: Array, x: Array) -> Any:
    """Returns the elements of an array where a condition holds, 0 elsewhere.

    Args:
        xp: Array namespace.
        condition: Condition, bool.
        x: Array. Shapes are broadcast.
    """
    integers = _integers_for(xp, condition, x)
    if integers is None:
        return xp.where(condition, x, xp.zeros((), x.dtype))
    kept = condition.astype(integers)
    # A product with 0 or 1. Integers have no special values such as NaN.
    kept *= x.view(integers)
    return kept.view(x.dtype)


def _integers_for(xp: ArrayModule, condition: Array, x: Array) -> DType | None:
    """Returns the integers that have the bits of elements; None if ``where`` has to choose."""
    if xp is not numpy or condition.size < _BITWISE_SIZE or condition.shape != x.shape:
        return None
    return _INTEGERS.get(x.dtype.itemsize)
