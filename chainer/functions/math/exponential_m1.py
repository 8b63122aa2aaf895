"""Exponential minus one."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Expm1(ElementwiseFunction):
    """``exp(x) - 1``."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.exp(x)


@elementwise_sections()
def expm1(x: VariableLike) -> Variable:
    """Elementwise ``exp(x) - 1``, accurate near zero.

    Example:
        >>> F.expm1(np.array([0.]))
        variable([0.])
    """
    return Expm1().apply((x,))[0]
