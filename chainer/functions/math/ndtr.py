"""Cumulative distribution function of the standard normal distribution."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.math._special import SpecialFunction
from chainer.functions.rules import Ops, Value


class Ndtr(SpecialFunction):
    """Cumulative distribution function of the standard normal distribution."""

    operation = special.ndtr

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


@elementwise_sections(y="Probabilities of values below ``x``")
def ndtr(x: VariableLike) -> Variable:
    """Elementwise cumulative distribution function of the standard normal distribution.

    With SciPy installed the NumPy backend uses ``scipy.special.ndtr``; otherwise it is slow.

    .. seealso:: :func:`log_ndtr`, :func:`ndtri`

    Example:
        >>> F.ndtr(np.array([-1., 0, 1])).array.round(6)
        array([0.158655, 0.5     , 0.841345])
    """
    return Ndtr().apply((x,))[0]
