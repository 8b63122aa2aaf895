"""Digamma function."""

from __future__ import annotations

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import SpecialFunction
from chainer.functions.rules import Ops, Value


class DiGamma(SpecialFunction):
    """Digamma function."""

    operation = special.digamma

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.polygamma(1, x)


@special_sections(limits=" Infinite at 0, not a number at negative integers.")
def digamma(x: VariableLike) -> Variable:
    """Elementwise digamma function, the derivative of :func:`lgamma`.

    Source: `Digital Library of Mathematical Functions, 5.2 <https://dlmf.nist.gov/5.2>`_.

    Example:
        >>> F.digamma(np.array([-0.5, 1, 2])).array.round(6)
        array([ 0.03649 , -0.577216,  0.422784])
    """
    return DiGamma().apply((x,))[0]
