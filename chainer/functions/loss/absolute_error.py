"""Elementwise absolute error."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions.loss._pair import PairLoss, pair_sections
from chainer.functions.rules import Ops, Value


class AbsoluteError(PairLoss):
    """Elementwise absolute difference."""

    is_pointwise = True

    def forward(self, inputs: Arrays) -> Arrays:
        return (abs(inputs[0] - inputs[1]),)

    def gradient(self, ops: Ops, difference: Value, gy: Value) -> Value:
        # The sign is constant almost everywhere: this has no derivative but for gy.
        return ops.sign(difference) * gy


@pair_sections(result="The errors, of the shape of the inputs")
def absolute_error(x0: VariableLike, x1: VariableLike) -> Variable:
    """Elementwise absolute error ``|x0 - x1|``.

    Example:
        >>> F.absolute_error(np.array([1., 2.]), np.array([3., 1.]))
        variable([2., 1.])
    """
    return AbsoluteError().apply((x0, x1))[0]
