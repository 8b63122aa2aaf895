"""Elementwise maximum."""

from __future__ import annotations

from functools import reduce

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._extremum import Extremum


class Maximum(Extremum):
    """Elementwise maximum of two arrays."""

    comparison = "greater_equal"
    choice = "maximum"


def maximum(x1: VariableLike, x2: VariableLike, *xs: VariableLike) -> Variable:
    """Elementwise maximum of input variables.

    Args:
        x1 (Variable or array): First input, floating point.
        x2 (Variable or array): Second input of the same dtype and of a shape that broadcasts with
            that of ``x1``.
        xs (Variable or array): More inputs.

    Returns:
        Variable: Elementwise maximum. Where inputs are equal, the first gets the gradient.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.maximum(np.array([1., 2.]), np.array([3., 1.]))
        variable([3., 2.])
    """
    return reduce(lambda a, b: Maximum().apply((a, b))[0], (x1, x2, *xs))  # type: ignore[return-value]
