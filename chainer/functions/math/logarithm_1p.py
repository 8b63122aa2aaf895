"""Logarithm of one plus."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Log1p(ElementwiseFunction):
    """``log(1 + x)``."""

    def derivative(self, ops: Ops, x: Value) -> Value:
        return 1 / (x + 1)


@elementwise_sections(x="Numbers greater than -1")
def log1p(x: VariableLike) -> Variable:
    """Elementwise natural logarithm of ``1 + x``, accurate near zero.

    Example:
        >>> F.log1p(np.array([0.]))
        variable([0.])
    """
    return Log1p().apply((x,))[0]
