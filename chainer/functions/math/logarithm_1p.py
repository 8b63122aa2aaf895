"""Logarithm of one plus."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Log1p(ElementwiseFunction):
    """``log(1 + x)``."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return 1 / (x + 1)


def log1p(x: VariableLike) -> Variable:
    """Elementwise natural logarithm of ``1 + x``, accurate near zero.

    Args:
        x (Variable or array): Numbers greater than -1, of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.log1p(np.array([0.]))
        variable([0.])
    """
    return Log1p().apply((x,))[0]
