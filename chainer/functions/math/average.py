"""Mean and weighted average."""

from __future__ import annotations

from math import prod

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.backends.operations.reductions import axes_sum
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import Axis, check_axes_argument, check_axes_exist
from chainer.functions._errors import InvalidAxis
from chainer.functions._inputs import require_array
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape
from chainer.functions.math.sum import Sum, sum
from chainer.functions.rules import Ops, Value


class Mean(Sum):
    """Mean of array elements over given axes.

    Args:
        axis (None, int or tuple of int): Axes; all by default.
        keepdims (bool): Whether reduced axes remain, with length one.

    Attributes:
        multiplier: Reciprocal of the number of elements of each mean, once the node is applied.
    """

    multiplier = float("nan")

    def __init__(self, axis: Axis = None, keepdims: bool = False) -> None:
        super().__init__(axis, keepdims)
        if isinstance(self.axis, int):
            self.axis = (self.axis,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")
        check_axes_exist(in_types[0], self.axis, InvalidAxis)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        axis = self.axis
        count = x.size if axis is None else prod([x.shape[a] for a in axis])
        # The mean of no elements is not a number.
        self.multiplier = 1.0 / count if count else float("nan")
        # A sum of many halves overflows, and loses digits before.
        values = to_compute_dtype(x)
        y = axes_sum.select(values).forward(values, axis, self.keepdims)
        return ((y * self.multiplier).astype(x.dtype, copy=False),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        scaled = gy * self.multiplier
        # Dtypes that NumPy does not know, such as bfloat16, are promoted by numbers of Python.
        if scaled.dtype != gy.dtype:
            scaled = ops.cast(scaled, gy.dtype)
        return super().gradient(ops, scaled)


@explained_keywords
def average(
    x: VariableLike, axis: Axis = None, weights: VariableLike | None = None, keepdims: bool = False
) -> Variable:
    """Calculates weighted average of array elements over a given axis.

    Args:
        x (Variable or array): Elements to average, of any shape, floating point.
        axis (None, int, or tuple of int): Axis or axes along which to average; all by default.
        weights (None or Variable or array): Weights, of the dtype of ``x``, or of another one if
            ``x`` is an array: it is cast. Without ``axis`` they have the shape of ``x``;
            with an axis they have its length, or the shape of ``x``. Weights with a tuple of axes
            are not supported.
        keepdims (bool): Whether reduced axes stay, with length one.

    Returns:
        Variable: The average.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or an axis does not exist; the latter error is
            an IndexError as well.
        ValueError: If an axis occurs twice, or ``weights`` is given together with a tuple of
            several axes.

    Example:
        >>> F.average(np.array([1., 2., 3.]), weights=np.array([2., 1., 1.]))
        variable(1.75)
    """
    axis = check_axes_argument(axis)
    if weights is None:
        return Mean(axis, keepdims).apply((x,))[0]
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise ValueError("tuple axis is not supported when weights is given")
        (axis,) = axis
    return _weighted_average(x, axis, weights, keepdims)


def _weighted_average(
    x: VariableLike, axis: int | None, weights: VariableLike, keepdims: bool
) -> Variable:
    require_array(x, weights)
    if axis is not None and not -x.ndim <= axis < x.ndim:
        raise InvalidAxis(f"x.ndim > {axis if axis >= 0 else -axis - 1}", f"x.ndim == {x.ndim}")
    if not isinstance(x, Variable):
        x = _cast_to_weights(x, axis, weights)
    x, weights = as_variable(x), as_variable(weights)
    # Weights along one axis have one sum; others are summed like the elements below.
    divisor = sum(weights) if axis is None or weights.ndim == 1 else None
    if axis is not None and weights.ndim != x.ndim:
        lengths = [1] * x.ndim
        lengths[axis] = x.shape[axis]
        # For the last axis, broadcasting itself adds the axes in front.
        if axis not in (-1, x.ndim - 1) or weights.shape != (x.shape[axis],):
            weights = reshape(weights, tuple(lengths))
        weights = broadcast_to(weights, x.shape)
    elif axis is not None:
        divisor = sum(weights, axis=axis, keepdims=keepdims)
    # Divided after the summation, which is one division for each mean.
    total = sum(x * weights, axis=axis, keepdims=keepdims)
    if divisor is None:
        divisor = sum(weights, axis=axis, keepdims=keepdims)
    return total / broadcast_to(divisor, total.shape)


def _cast_to_weights(x: Array, axis: int | None, weights: VariableLike) -> Array:
    """Returns an array, which is a constant, in the dtype of the weights."""
    if x.dtype == weights.dtype or x.dtype.kind != "f" or weights.dtype.kind != "f":
        return x  # what does not fit is refused by the product
    if axis is None and not isinstance(weights, Variable):
        # Earlier releases multiplied the two arrays as they were.
        dtype = numpy.result_type(x.dtype, weights.dtype)
        if dtype != weights.dtype:
            raise type_check.InvalidType("weights.dtype >= x.dtype", f"{weights.dtype} < {x.dtype}")
    array: Array = x
    return array.astype(weights.dtype)


mean = average
