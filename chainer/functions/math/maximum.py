"""Elementwise maximum."""

from __future__ import annotations

from functools import reduce

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, VariableLike
from chainer.functions.math._extremum import Extremum, extremum_sections


class Maximum(Extremum):
    """Elementwise maximum of two arrays."""

    choice = "maximum"

    def is_chosen(self, i: int, x1: Array, x2: Array) -> Array:
        # Beside NaN the second input gets the gradient, as in release 7.
        first = x1 >= x2
        return ~first if i else first


@extremum_sections(extremum="maximum")
def maximum(x1: VariableLike, x2: VariableLike, *xs: VariableLike) -> Variable:
    """Elementwise maximum of input variables.

    Example:
        >>> F.maximum(np.array([1., 2.]), np.array([3., 1.]))
        variable([3., 2.])
    """
    return reduce(lambda a, b: Maximum().apply((a, b))[0], (x1, x2, *xs))  # type: ignore[return-value]
