"""Hyperbolic functions."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Sinh(ElementwiseFunction):
    """Hyperbolic sine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.cosh(x)


class Cosh(ElementwiseFunction):
    """Hyperbolic cosine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.sinh(x)


@elementwise_sections()
def sinh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic sine.

    Example:
        >>> F.sinh(np.array([0.]))
        variable([0.])
    """
    return Sinh().apply((x,))[0]


@elementwise_sections()
def cosh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic cosine.

    Example:
        >>> F.cosh(np.array([0.]))
        variable([1.])
    """
    return Cosh().apply((x,))[0]
