"""Mean absolute error."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.loss._pair import MeanOfPairs, pair_sections
from chainer.functions.loss.absolute_error import AbsoluteError
from chainer.functions.rules import Ops, Value


class MeanAbsoluteError(MeanOfPairs):
    """Mean of absolute differences."""

    of_elements = AbsoluteError

    def forward(self, inputs: Arrays) -> Arrays:
        x0, x1 = inputs
        if x0.size == 0:
            # The mean of nothing, without the warning of NumPy.
            return (self.xp.full((), float("nan"), dtype=x0.dtype),)
        # An array: apply() takes longer for numbers of NumPy.
        return (self.xp.asarray(abs(x0 - x1).mean()),)

    def gradient(self, ops: Ops, difference: Value, gy: Value) -> Value:
        gx = ops.sign(difference)
        gx /= max(gx.size, 1)
        return gx * gy


@pair_sections(result="The mean, a scalar; NaN for empty inputs")
@explained_keywords
def mean_absolute_error(x0: VariableLike, x1: VariableLike) -> Variable:
    """Mean absolute error: the mean of ``|x0 - x1|`` over all elements.

    Example:
        >>> F.mean_absolute_error(np.array([1., 2.]), np.array([3., 1.]))
        variable(1.5)
    """
    return MeanAbsoluteError().apply((x0, x1))[0]
