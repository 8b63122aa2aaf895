"""Weighted average."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.functions._axes import Axis, check_axes_argument
from chainer.functions.array.broadcast import broadcast_to
from chainer.functions.array.reshape import reshape
from chainer.functions.math.sum import sum


def average(
    x: VariableLike, axis: Axis = None, weights: VariableLike | None = None, keepdims: bool = False
) -> Variable:
    """Calculates weighted average of array elements over a given axis.

    Args:
        x (Variable or array): Elements to average, of any shape, floating point.
        axis (None, int, or tuple of int): Axis or axes along which to average; all by default.
        weights (None or Variable or array): Weights. Without ``axis`` they have the shape of ``x``;
            with an axis they have its length, or the shape of ``x``. Weights with a tuple of axes
            are not supported.
        keepdims (bool): Whether reduced axes stay, with length one.

    Returns:
        Variable: The average.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        IndexError: If an axis does not exist.
        ValueError: If an axis occurs twice, or ``weights`` is given together with a tuple of
            several axes.

    Example:
        >>> F.average(np.array([1., 2., 3.]), weights=np.array([2., 1., 1.]))
        variable(1.75)
    """
    x = as_variable(x)
    axis = check_axes_argument(axis)
    for a in () if axis is None else (axis,) if isinstance(axis, int) else axis:
        if not -x.ndim <= a < x.ndim:
            raise IndexError(f"axis {a} is out of range for an array of {x.ndim} axes")
    if weights is not None:
        if isinstance(axis, tuple) and len(axis) == 1:
            (axis,) = axis
        if isinstance(axis, tuple):
            raise ValueError("tuple axis is not supported when weights is given")
        weights = as_variable(weights)
        # Weights along one axis have one sum; others are summed like the elements below.
        divisor = sum(weights) if axis is None or weights.ndim == 1 else None
        if axis is not None and weights.ndim != x.ndim:
            lengths = [1] * x.ndim
            lengths[axis] = x.shape[axis]
            weights = broadcast_to(reshape(weights, tuple(lengths)), x.shape)
        elif axis is not None:
            divisor = sum(weights, axis=axis, keepdims=keepdims)
        total = sum(x * weights, axis=axis, keepdims=keepdims)
        if divisor is None:
            divisor = sum(weights, axis=axis, keepdims=keepdims)
        return total / broadcast_to(divisor, total.shape)
    if axis is None:
        count = x.size
    else:
        count = 1
        for a in (axis,) if isinstance(axis, int) else axis:
            count *= x.shape[a]
    # The factor is applied to the small array; for float16 it would overflow before the division.
    if x.dtype.itemsize > 2:
        total = sum(x, axis=axis, keepdims=keepdims)
        return total * (1.0 / count if count else float("nan"))
    return sum(x * (1.0 / count if count else float("nan")), axis=axis, keepdims=keepdims)


mean = average
