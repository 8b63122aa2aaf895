"""Inverse hyperbolic tangent."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import ElementwiseFunction, Ops, Value


class Arctanh(ElementwiseFunction):
    """Inverse hyperbolic tangent."""

    @property
    def label(self) -> str:
        return "Arctanh"

    def derivative(self, ops: Ops, x: Value) -> Value:
        return 1 / (1 - x * x)


@elementwise_sections(x="Numbers in (-1, 1)")
def arctanh(x: VariableLike) -> Variable:
    """Elementwise inverse hyperbolic tangent function.

    Example:
        >>> F.arctanh(np.array([0., 0.5]))
        variable([0.        , 0.54930614])
    """
    return Arctanh().apply((x,))[0]
