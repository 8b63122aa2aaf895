"""Rolling an axis backwards."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import expect_axis
from chainer.functions._scalars import require_int
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes


class Rollaxis(ShiftsAxes, UnaryFunction):
    """Moves an axis to before another one."""

    is_linear = True

    type_check_key = ("axis", "start")

    def __init__(self, axis: int, start: int) -> None:
        self.axis = require_int(axis, "axis")
        self.start = require_int(start, "start")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        x_type = in_types[0]
        expect_axis(x_type, self.axis)
        if self.start >= 0:
            type_check.expect(x_type.ndim >= self.start)
        else:
            type_check.expect(x_type.ndim >= -self.start)

    def attributes_of_batch(self, ndim: int) -> dict[str, Any]:
        # A negative start counts from the end, where no axis is added.
        return {**super().attributes_of_batch(ndim), "start": self.start + (self.start >= 0)}

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.rollaxis(inputs[0], self.axis, self.start),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        axis, start = self.axis % gy.ndim, self.start
        if start < 0:
            start += gy.ndim
        # The axis is now at `start`, or one before it if it was taken from there.
        return (
            ops.rollaxis(gy, start - 1, axis) if axis < start else ops.rollaxis(gy, start, axis + 1)
        )


@explained_keywords
def rollaxis(x: VariableLike, axis: int, start: int = 0) -> Variable:
    """Rolls the axis backwards to the given position.

    Args:
        x (Variable or array): Input of any shape.
        axis (int): The axis to roll backwards.
        start (int): The axis it is moved to before.

    Returns:
        Variable: Variable whose axis is rolled.

    Raises:
        InvalidType: If an axis does not exist.
        TypeError: If ``axis`` or ``start`` is not an integer.

    Example:
        >>> F.rollaxis(np.zeros((2, 3, 4)), 2).shape
        (4, 2, 3)
    """
    return Rollaxis(axis, start).apply((x,))[0]
