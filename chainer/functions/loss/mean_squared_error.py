"""Mean squared error (a.k.a. Euclidean loss)."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils.argument import explained_keywords
from chainer.functions.loss._pair import MeanOfPairs, pair_sections
from chainer.functions.loss.squared_error import SquaredError
from chainer.functions.rules import Ops, Value


class MeanSquaredError(MeanOfPairs):
    """Mean of squared differences."""

    of_elements = SquaredError

    def forward(self, inputs: Arrays) -> Arrays:
        x0, x1 = inputs
        if x0.size == 0:
            # The mean of nothing, without the warning of NumPy.
            return (self.xp.full((), float("nan"), dtype=x0.dtype),)
        difference = x0 - x1
        if difference.dtype.itemsize > 2:
            # A dot product makes no array of the squares.
            flat = difference.ravel()
            return (self.xp.asarray(flat.dot(flat) / flat.size, dtype=x0.dtype),)
        # A sum of float16 squares overflows long before their mean does.
        squares = difference.astype("float32") ** 2
        return (squares.mean().astype(x0.dtype),)

    def gradient(self, ops: Ops, difference: Value, gy: Value) -> Value:
        difference *= gy * (2.0 / max(difference.size, 1))
        return difference


@pair_sections(result="The mean, a scalar; NaN for empty inputs")
@explained_keywords
def mean_squared_error(x0: VariableLike, x1: VariableLike) -> Variable:
    """Mean squared error: the mean of ``(x0 - x1)^2`` over all elements (not only over the batch).

    Example:
        >>> F.mean_squared_error(np.array([1., 2.]), np.array([3., 1.]))
        variable(2.5)
    """
    return MeanSquaredError().apply((x0, x1))[0]
