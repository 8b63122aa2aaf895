"""Exponential minus one."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Expm1(ElementwiseFunction):
    """``exp(x) - 1``."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.exp(x)


def expm1(x: VariableLike) -> Variable:
    """Elementwise ``exp(x) - 1``, accurate near zero.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.expm1(np.array([0.]))
        variable([0.])
    """
    return Expm1().apply((x,))[0]
