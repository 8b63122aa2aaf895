"""Huber loss."""

from __future__ import annotations

from chainer import functions
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import as_number
from chainer.functions.loss._pair import PairLoss
from chainer.functions.rules import Ops, Value
from chainer.functions.rules.batching import ReducesLosses


class HuberLoss(ReducesLosses, PairLoss):
    """Squared error near zero, absolute error further out."""

    argument_names = ("x", "t")
    is_pointwise = True  # where it is not reduced

    type_check_key = ("reduce",)

    def __init__(self, delta: float, reduce: str = "sum_along_second_axis") -> None:
        if reduce not in ("sum_along_second_axis", "no"):
            raise ValueError(
                "Only 'sum_along_second_axis' and 'no' are valid for 'reduce', "
                f"but '{reduce}' is given"
            )
        self.delta = as_number(delta, "delta")
        if self.delta < 0:
            raise ValueError(f"delta must not be negative, got {delta}")
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        if self.reduce != "no":
            type_check.expect(in_types[0].ndim >= 2)

    def forward(self, inputs: Arrays) -> Arrays:
        x, t = inputs
        a = x - t
        # With c = clip(a, -d, d) both branches are c * (a - c / 2).
        c = self.xp.clip(a, -self.delta, self.delta)
        a -= c * 0.5
        a *= c
        return (a if self.reduce == "no" else a.sum(axis=1),)

    def reduced(self, losses: Variable, inputs: Variables) -> Variable:
        return functions.sum(losses, axis=2)

    def gradient(self, ops: Ops, difference: Value, gy: Value) -> Value:
        gx = ops.clip(difference, -self.delta, self.delta)
        gx *= gy if self.reduce == "no" else gy.reshape((gy.shape[0], 1, *gy.shape[1:]))
        return gx


@explained_keywords
def huber_loss(
    x: VariableLike, t: VariableLike, delta: float, reduce: str = "sum_along_second_axis"
) -> Variable:
    """Computes the Huber loss, which is less sensitive to outliers than the squared error.

    With ``a = x - t`` it is ``a^2 / 2`` where ``|a| <= delta`` and ``delta (|a| - delta / 2)``
    elsewhere. See `Huber loss - Wikipedia <https://en.wikipedia.org/wiki/Huber_loss>`_.

    Args:
        x (Variable or array): Input of shape ``(N, K, ...)``, floating point.
        t (Variable or array): Target of the same shape and dtype.
        delta (float): Where the loss turns from quadratic to linear.
        reduce (str): ``'sum_along_second_axis'``: summed along axis 1. ``'no'``: the elementwise
            losses.

    Returns:
        Variable: The loss, of shape ``(N, ...)`` or of the shape of the inputs.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``delta`` is negative, or ``reduce`` is something else.

    Example:
        >>> x = np.array([[-2.0, 3.0, 0.5], [5.0, 2.0, -0.5]], np.float32)
        >>> t = np.array([[-2.0, 3.0, 0.0], [10.0, 2.0, -0.5]], np.float32)
        >>> F.huber_loss(x, t, delta=1.0)
        variable([0.125, 4.5  ])
    """
    return HuberLoss(delta, reduce).apply((x, t))[0]
