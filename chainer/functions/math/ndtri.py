"""Quantiles of the standard normal distribution."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import InverseFunction
from chainer.functions.rules import Ops, Value


class Ndtri(InverseFunction):
    """Inverse of the cumulative distribution function of the standard normal distribution."""

    operation = special.ndtri

    def derivative(self, ops: Ops, y: Value) -> Value:
        return ops.exp(y * y * 0.5) * math.sqrt(2 * math.pi)


@special_sections(x="Probabilities in [0, 1]", limits=" Infinite at 0 and 1, not a number outside.")
def ndtri(x: VariableLike) -> Variable:
    """Elementwise inverse of :func:`ndtr`: quantiles of the standard normal distribution.

    Example:
        >>> F.ndtri(np.array([0, 0.1, 0.5])).array.round(6)
        array([     -inf, -1.281552,  0.      ])
    """
    return Ndtri().apply((x,))[0]
