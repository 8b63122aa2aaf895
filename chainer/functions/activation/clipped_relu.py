"""Clipped ReLU."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import clipped_relu as clipped_relu_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions._scalars import as_number
from chainer.functions.array.where import where


class ClippedReLU(FunctionNode):
    """Linear between zero and a cap."""

    type_check_key = ()

    def __init__(self, z: float) -> None:
        self.cap = as_number(z, "z")
        if self.cap <= 0:
            raise ValueError(f"z must be greater than zero, got {z}")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self._kernel = clipped_relu_operation.select(inputs[0], cap=self.cap)
        y, self._inside = self._kernel.forward(inputs[0], self.cap)
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gy = grad_outputs[0]
        return (where(self._inside, gy, self.xp.zeros_like(gy.array)),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (self._kernel.backward(self._inside, grad_outputs[0]),)


def clipped_relu(x: Any, z: float = 20.0) -> Variable:
    """Clipped Rectifier Unit function: ``min(max(0, x), z)``.

    Args:
        x (Variable or array): Input of any shape, floating point.
        z (float): Clipping value; positive.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.
        ValueError: If ``z`` is not positive.

    Example:
        >>> F.clipped_relu(np.array([-1., 5., 30.]))
        variable([ 0.,  5., 20.])
    """
    return ClippedReLU(z).apply((x,))[0]


def relu6(x: Any) -> Variable:
    """Rectifier Unit function clipped at 6: ``min(max(0, x), 6)``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Example:
        >>> F.relu6(np.array([-1., 5., 7.], np.float32))
        variable([0., 5., 6.])
    """
    return clipped_relu(x, 6.0)
