"""Rolling an axis backwards."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._axes import expect_axis
from chainer.functions._scalars import require_int


class Rollaxis(FunctionNode):
    """Moves an axis to before another one."""

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

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.xp.rollaxis(inputs[0], self.axis, self.start),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        ndim = len(self.inputs[0].shape)  # type: ignore[index]
        axis, start = self.axis % ndim, self.start
        if start < 0:
            start += ndim
        # The axis landed at `start`, or one before it if it was taken from there.
        if axis < start:
            return Rollaxis(start - 1, axis).apply(grad_outputs)
        return Rollaxis(start, axis + 1).apply(grad_outputs)


def rollaxis(x: Any, axis: int, start: int = 0) -> Variable:
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
