"""Elementwise minimum."""

from __future__ import annotations

from functools import reduce

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._extremum import Extremum


class Minimum(Extremum):
    """Elementwise minimum of two arrays."""

    comparison = "less_equal"
    choice = "minimum"


def minimum(x1: VariableLike, x2: VariableLike, *xs: VariableLike) -> Variable:
    """Elementwise minimum of input variables.

    Args:
        x1 (Variable or array): First input, floating point.
        x2 (Variable or array): Second input of the same dtype and of a shape that broadcasts with
            that of ``x1``.
        xs (Variable or array): More inputs.

    Returns:
        Variable: Elementwise minimum. Where inputs are equal, the first gets the gradient.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.minimum(np.array([1., 2.]), np.array([3., 1.]))
        variable([1., 1.])
    """
    return reduce(lambda a, b: Minimum().apply((a, b))[0], (x1, x2, *xs))  # type: ignore[return-value]
