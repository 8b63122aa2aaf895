"""Hyperbolic functions."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Sinh(ElementwiseFunction):
    """Hyperbolic sine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.cosh(x)


class Cosh(ElementwiseFunction):
    """Hyperbolic cosine."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.sinh(x)


def sinh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic sine.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.sinh(np.array([0.]))
        variable([0.])
    """
    return Sinh().apply((x,))[0]


def cosh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic cosine.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.cosh(np.array([0.]))
        variable([1.])
    """
    return Cosh().apply((x,))[0]
