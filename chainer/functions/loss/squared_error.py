"""Elementwise squared error."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.lazy import lazy_module
from chainer.core.typing import Arrays, VariableLike
from chainer.functions.loss._pair import PairLoss, pair_sections
from chainer.functions.rules import Ops, Value


class SquaredError(PairLoss):
    """Elementwise squared difference."""

    is_pointwise = True

    def forward(self, inputs: Arrays) -> Arrays:
        difference = inputs[0] - inputs[1]
        return (difference * difference,)

    def gradient(self, ops: Ops, difference: Value, gy: Value) -> Value:
        difference *= gy
        return difference + difference


@pair_sections(result="The errors, of the shape of the inputs")
def squared_error(x0: VariableLike, x1: VariableLike) -> Variable:
    """Elementwise squared error ``(x0 - x1)^2``.

    Example:
        >>> F.squared_error(np.array([1., 2.]), np.array([3., 1.]))
        variable([4., 1.])
    """
    return SquaredError().apply((x0, x1))[0]


# Release 7 defines squared_difference here.
__getattr__, __dir__ = lazy_module(
    globals(), {"squared_difference": "chainer.functions.math.squared_difference"}
)
