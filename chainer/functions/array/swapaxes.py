"""Exchange of two axes."""

from __future__ import annotations

from numpy.lib.array_utils import normalize_axis_index

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.functions.rules import Ops, UnaryFunction, Value, expect_one_array
from chainer.functions.rules.batching import ShiftsAxes


class Swapaxes(ShiftsAxes, UnaryFunction):
    """Exchanges two axes."""

    axis_attributes = ("axis1", "axis2")

    is_linear = True

    type_check_key = ()

    def __init__(self, axis1: int, axis2: int) -> None:
        self.axis1 = axis1
        self.axis2 = axis2

    check_type_forward = expect_one_array

    def forward(self, inputs: Arrays) -> Arrays:
        # Not left to the backend: CuPy does not say which axis.
        axis1 = normalize_axis_index(self.axis1, inputs[0].ndim, "axis1")
        axis2 = normalize_axis_index(self.axis2, inputs[0].ndim, "axis2")
        return (inputs[0].swapaxes(axis1, axis2),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        # To exchange axes is its own inverse.
        return ops.swapaxes(gy, self.axis1, self.axis2)


def swapaxes(x: VariableLike, axis1: int, axis2: int) -> Variable:
    """Swaps two axes of a variable.

    Args:
        x (Variable or array): Input of any shape.
        axis1 (int): The first axis to swap.
        axis2 (int): The second axis to swap.

    Returns:
        Variable: Variable whose axes are swapped.

    Raises:
        numpy.exceptions.AxisError: If an axis does not exist.

    Example:
        >>> F.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    return Swapaxes(axis1, axis2).apply((x,))[0]
