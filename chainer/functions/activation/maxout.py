"""Maxout."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.array.reshape import reshape
from chainer.functions.math.minmax import max


@explained_keywords
def maxout(x: VariableLike, pool_size: int, axis: int = 1) -> Variable:
    """Maxout activation function: the maximum over groups of neighbors along an axis.

    Args:
        x (Variable or array): Input, floating point; the length of ``axis`` is ``M * pool_size``.
        pool_size (int): Size of the groups.
        axis (int): Axis that is divided into groups.

    Returns:
        Variable: Output of the shape of ``x`` with ``axis`` of length ``M``.

    Raises:
        InvalidType: If the groups do not divide the axis, or the axis does not exist.
        ValueError: If ``pool_size`` is not positive.

    Example:
        >>> F.maxout(np.array([[1., 3., 2., 0.]]), 2)
        variable([[3., 2.]])
    """
    if pool_size <= 0:
        raise ValueError(f"pool_size must be a positive integer, got {pool_size}")
    x = as_variable(x)
    shape = x.shape
    if not -len(shape) <= axis < len(shape):
        raise type_check.InvalidType(f"an axis {axis} of x", f"x has {len(shape)} axes")
    axis %= len(shape)
    if shape[axis] % pool_size != 0:
        raise type_check.InvalidType(
            f"x.shape[{axis}] % pool_size == 0",
            f"{shape[axis]} % {pool_size} != 0",
            msg="axis dimension must be divided by pool_size",
        )
    grouped = (*shape[:axis], shape[axis] // pool_size, pool_size, *shape[axis + 1 :])
    return max(reshape(x, grouped), axis=axis + 1)
