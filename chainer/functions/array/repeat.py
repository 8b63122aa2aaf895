"""Repetition of elements."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import (
    Array,
    ArrayGrads,
    Arrays,
    Indexes,
    IntTuple,
    VariableLike,
)
from chainer.core.utils.argument import explained_keywords
from chainer.functions.rules import LinearMap
from chainer.functions.rules.batching import ShiftsOneAxis


class Repeat(ShiftsOneAxis, LinearMap):
    """Repeats the elements of an array along an axis."""

    type_check_key = ()

    def __init__(self, repeats: Any, axis: int | None = None) -> None:
        if isinstance(repeats, (int, numpy.integer)):
            repeats = (int(repeats),)
        if not isinstance(repeats, tuple) or not all(
            isinstance(r, (int, numpy.integer)) for r in repeats
        ):
            raise TypeError(f"repeats must be int or tuple of ints, got {repeats!r}")
        if any(r < 0 for r in repeats):
            raise ValueError(f"all elements in repeats must be zero or larger, got {repeats}")
        if axis is not None and (not isinstance(axis, int) or isinstance(axis, bool)):
            raise TypeError(f"axis must be int or None, got {axis!r}")
        # A bool counts as 0 or 1, but NumPy takes it neither as a length nor as a count.
        self.repeats: tuple[int, ...] = tuple(map(int, repeats))
        self.axis = axis

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        repeats = self.repeats[0] if len(self.repeats) == 1 else list(self.repeats)
        return (self.xp.repeat(x, repeats, self.axis),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        in_shape = self.input_shape(0)
        # One axis before, one after and one along which elements were repeated.
        if self.axis is None or not in_shape:
            # An array without axes is repeated like a vector of one element.
            before, length, after = 1, math.prod(in_shape), 1
        else:
            axis = self.axis % len(in_shape)
            before, length = math.prod(in_shape[:axis]), in_shape[axis]
            after = math.prod(in_shape[axis + 1 :])
        if len(self.repeats) == 1:
            count = self.repeats[0]
            return (_sum_copies(gy.reshape(before, length, count, after)).reshape(in_shape),)
        gx = self.xp.zeros((before, length, after), dtype=gy.dtype)
        # The length is not left to NumPy, which cannot tell it for arrays without elements.
        gy = gy.reshape(before, sum(self.repeats), after)
        start = 0
        for i, count in enumerate(self.repeats):
            gx[:, i] = gy[:, start : start + count].sum(axis=1)
            start += count
        return (gx.reshape(in_shape),)


def _sum_copies(gy: Array) -> Array:
    """Sums along axis 2; a few additions are faster than sums of a few elements each."""
    count = gy.shape[2]
    if not 0 < count <= 16:
        return gy.sum(axis=2)
    gx = gy[:, :, 0].copy()
    for k in range(1, count):
        gx += gy[:, :, k]
    return gx


@explained_keywords
def repeat(x: VariableLike, repeats: IntTuple, axis: int | None = None) -> Variable:
    """Constructs an array by repeating each element of a given array.

    Args:
        x (Variable or array): Input of any shape.
        repeats (int or tuple of ints): Number of repetitions of each element, or of each along the
            axis.
        axis (int): Axis along which to repeat; by default the flattened input is used.

    Returns:
        Variable: The repeated output.

    Raises:
        TypeError: If ``repeats`` or ``axis`` is of a wrong type.
        ValueError: If a number of repetitions is negative, or their number does not fit.

    Example:
        >>> F.repeat(np.array([0, 1, 2]), 2)
        variable([0, 0, 1, 1, 2, 2])
        >>> F.repeat(np.array([[0, 1], [2, 3]]), (2, 1), axis=0)
        variable([[0, 1],
                  [0, 1],
                  [2, 3]])
    """
    return Repeat(repeats, axis).apply((x,))[0]
