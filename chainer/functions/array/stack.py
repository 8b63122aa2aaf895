"""Stacking along a new axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._scalars import require_int
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values
from chainer.functions.rules.batching import ShiftsAxes


class Stack(ShiftsAxes, ExpressionFunction):
    """Joins arrays along a new axis."""

    is_linear = True
    added_axes = 1

    type_check_key = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = require_int(axis, "axis")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() > 0)
        first = in_types[0]
        if self.axis >= 0:
            type_check.expect(first.ndim >= self.axis)
        else:
            type_check.expect(first.ndim >= -self.axis - 1)
        for other in list(in_types)[1:]:
            type_check.expect(other.dtype == first.dtype, other.shape == first.shape)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.stack(inputs, axis=self.axis),)

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        # Slices of the gradients that are wanted; to separate all of them would cost more.
        before = (slice(None),) * (self.axis % gy.ndim)
        return tuple([gy[(*before, i)] for i in targets])


@explained_keywords
def stack(xs: Sequence[Any], axis: int = 0) -> Variable:
    """Concatenates variables along a new axis.

    Args:
        xs (list of Variable or array): Variables of the same dtype and shape ``(s_1, ..., s_N)``.
        axis (int): Position of the new axis.

    Returns:
        Variable: Variable of ``N + 1`` axes, the new one of length ``len(xs)``.

    Raises:
        InvalidType: If dtypes or shapes do not fit, or the axis does not exist.

    Example:
        >>> F.stack([np.array([1, 2]), np.array([3, 4])], axis=1)
        variable([[1, 3],
                  [2, 4]])
    """
    return Stack(axis).apply(xs)[0]
