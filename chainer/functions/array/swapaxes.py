"""Exchange of two axes."""

from __future__ import annotations

from typing import Any

from numpy.lib.array_utils import normalize_axis_index

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Swapaxes(FunctionNode):
    """Exchanges two axes."""

    type_check_key = ()

    def __init__(self, axis1: int, axis2: int) -> None:
        self.axis1 = axis1
        self.axis2 = axis2

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        # Not left to the backend: CuPy does not say which axis.
        axis1 = normalize_axis_index(self.axis1, inputs[0].ndim, "axis1")
        axis2 = normalize_axis_index(self.axis2, inputs[0].ndim, "axis2")
        return (self.xp.swapaxes(inputs[0], axis1, axis2),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return Swapaxes(self.axis1, self.axis2).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (self.xp.swapaxes(grad_outputs[0], self.axis1, self.axis2),)


def swapaxes(x: Any, axis1: int, axis2: int) -> Variable:
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
