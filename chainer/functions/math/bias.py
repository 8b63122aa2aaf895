"""Elementwise summation with broadcasting."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._along_axis import broadcast_from_axis


def bias(x: VariableLike, y: VariableLike, axis: int = 1) -> Variable:
    """Elementwise summation with broadcasting.

    Args:
        x (Variable or array): Input, of shape ``(s_1, ..., s_N)``. An
            array is cast to the dtype of ``y``.
        y (Variable or array): Values to add; their shape is that of ``x`` from ``axis`` on.
        axis (int): The first axis of ``x`` along which ``y`` is applied.

    Returns:
        Variable: Output of the shape of ``x``.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.bias(np.zeros((2, 3)), np.array([1., 2.]), axis=0)
        variable([[1., 1., 1.],
                  [2., 2., 2.]])
    """
    x, y = broadcast_from_axis(x, y, axis)
    return x + y
