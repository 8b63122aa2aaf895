"""Elementwise squared difference."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.loss.squared_error import SquaredError


class SquaredDifference(SquaredError):
    """Elementwise squared difference."""


def squared_difference(x1: VariableLike, x2: VariableLike) -> Variable:
    """Elementwise squared difference ``(x1 - x2)^2``.

    Args:
        x1 (Variable or array): First input, of any shape, floating point.
        x2 (Variable or array): Second input of the same shape and dtype.

    Returns:
        Variable: Output of the shape of the inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.squared_difference(np.array([1., 2.]), np.array([3., 1.]))
        variable([4., 1.])
    """
    return SquaredDifference().apply((x1, x2))[0]
