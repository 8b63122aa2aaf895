"""Sigmoid."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class Sigmoid(FunctionNode):
    """Logistic sigmoid function."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_outputs((0,))
        # By tanh: it neither overflows nor loses digits, and is one pass where exp needs three.
        y = inputs[0] * 0.5
        y = self.xp.tanh(y)
        y *= 0.5
        y += 0.5
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        return SigmoidGrad().apply((y, grad_outputs[0]))

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (_gradient(y, grad_outputs[0]),)


class SigmoidGrad(FunctionNode):
    """Gradient of the sigmoid: ``gy * y * (1 - y)``."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (_gradient(*inputs),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        y, gy = self.get_retained_inputs()
        (g,) = grad_outputs
        gradients = {0: lambda: g * gy * (1 - 2 * y), 1: lambda: g * y * (1 - y)}
        return tuple([gradients[i]() for i in target_input_indexes])


def _gradient(y: Any, gy: Any) -> Any:
    gx = y * y
    gx = y - gx
    gx *= gy
    return gx


def sigmoid(x: Any) -> Variable:
    """Elementwise sigmoid logistic function ``1 / (1 + exp(-x))``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.sigmoid(np.array([0.]))
        variable([0.5])
    """
    return Sigmoid().apply((x,))[0]
