"""Elementwise minimum."""

from __future__ import annotations

from functools import reduce

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike
from chainer.functions.math._extremum import Extremum, extremum_sections


class Minimum(Extremum):
    """Elementwise minimum of two arrays."""

    choice = "minimum"

    def is_chosen(self, i: int, x1: Array, x2: Array) -> Array:
        # Beside NaN no input gets the gradient, as in release 7.
        return x1 > x2 if i else x1 <= x2


@extremum_sections(extremum="minimum")
def minimum(x1: VariableLike, x2: VariableLike, *xs: VariableLike) -> Variable:
    """Elementwise minimum of input variables.

    Example:
        >>> F.minimum(np.array([1., 2.]), np.array([3., 1.]))
        variable([1., 1.])
    """
    return reduce(lambda a, b: Minimum().apply((a, b))[0], (x1, x2, *xs))  # type: ignore[return-value]
