"""Logarithm of the cumulative distribution function of the standard normal distribution."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import SpecialFunction
from chainer.functions.rules import Ops, Value


class LogNdtr(SpecialFunction):
    """Logarithm of the cumulative distribution function of the standard normal distribution."""

    operation = special.log_ndtr

    def derivative(self, ops: Ops, x: Value) -> Value:
        # The density divided by ndtr(x). Both underflow for very negative x, erfcx does not.
        return math.sqrt(2 / math.pi) / ops.erfcx(x * -math.sqrt(0.5))


@special_sections()
def log_ndtr(x: VariableLike) -> Variable:
    """Elementwise logarithm of :func:`ndtr`.

    It is accurate for very negative ``x`` too, where :func:`ndtr` underflows, and so is its
    gradient.

    Example:
        >>> F.log_ndtr(np.array([-30., 0, 1])).array.round(4)
        array([-454.3212,   -0.6931,   -0.1728])
    """
    return LogNdtr().apply((x,))[0]
