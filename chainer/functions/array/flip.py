"""Reversing an axis."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions._axes import expect_axis
from chainer.functions._scalars import require_int
from chainer.functions.rules import Ops, UnaryFunction, Value
from chainer.functions.rules.batching import ShiftsAxes


class Flip(ShiftsAxes, UnaryFunction):
    """Reverses an array along an axis."""

    is_linear = True

    type_check_key = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = require_int(axis, "axis")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        expect_axis(in_types[0], self.axis)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.flip(inputs[0], self.axis),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        # To reverse is its own inverse.
        return ops.flip(gy, self.axis)


class FlipLR(Flip):
    """Reverses an array along its second axis."""

    argument_names = ("a",)

    def __init__(self, axis: int = 1) -> None:
        super().__init__(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].ndim >= 2)


class FlipUD(Flip):
    """Reverses an array along its first axis."""

    argument_names = ("a",)

    def __init__(self, axis: int = 0) -> None:
        super().__init__(axis)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].ndim >= 1)


def _flip(array: Array, axis: int) -> Array:
    """Returns an array whose elements along an axis are in the opposite order."""
    index = [slice(None)] * array.ndim
    index[axis] = slice(None, None, -1)
    return array[tuple(index)]


@explained_keywords
def flip(x: VariableLike, axis: int) -> Variable:
    """Flips an input variable in reverse order along the given axis.

    Args:
        x (Variable or array): Input of any shape.
        axis (int): Axis along which the input is reversed.

    Returns:
        Variable: Output of the same shape.

    Raises:
        InvalidType: If the axis does not exist.
        TypeError: If ``axis`` is not an integer.

    Example:
        >>> F.flip(np.array([1, 2, 3]), 0)
        variable([3, 2, 1])
    """
    return Flip(axis).apply((x,))[0]


def fliplr(a: VariableLike) -> Variable:
    """Flips an array in the left/right direction, along its second axis.

    Args:
        a (Variable or array): Input of two axes or more.

    Returns:
        Variable: Output of the same shape.

    Raises:
        InvalidType: If there is no second axis.

    Example:
        >>> F.fliplr(np.array([[1, 2, 3]]))
        variable([[3, 2, 1]])
    """
    return FlipLR().apply((a,))[0]


def flipud(a: VariableLike) -> Variable:
    """Flips an array in the up/down direction, along its first axis.

    Args:
        a (Variable or array): Input of one axis or more.

    Returns:
        Variable: Output of the same shape.

    Raises:
        InvalidType: If the input is a scalar.

    Example:
        >>> F.flipud(np.array([1, 2, 3]))
        variable([3, 2, 1])
    """
    return FlipUD().apply((a,))[0]
