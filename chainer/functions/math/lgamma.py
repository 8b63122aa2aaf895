"""Logarithm of the gamma function."""

from __future__ import annotations

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import SpecialFunction
from chainer.functions.rules import Ops, Value


class LGamma(SpecialFunction):
    """Logarithm of the absolute value of the gamma function."""

    operation = special.lgamma

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.digamma(x)


@special_sections(limits=" Infinite at 0 and negative integers.")
def lgamma(x: VariableLike) -> Variable:
    """Elementwise logarithm of the absolute value of the gamma function.

    Source: `Digital Library of Mathematical Functions, 5.2 <https://dlmf.nist.gov/5.2>`_.

    Example:
        >>> F.lgamma(np.array([-0.5, 1, 5])).array.round(6)
        array([1.265512, 0.      , 3.178054])
    """
    return LGamma().apply((x,))[0]
