"""Logistic function."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import sigmoid as sigmoid_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Sigmoid(FunctionNode):
    """Logistic function."""

    accepts_opaque_arrays = True
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self._kernel = sigmoid_operation.select(x)
        self.retain_outputs((0,))
        return (self._kernel.forward(x),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        return SigmoidGrad(self._kernel).apply((y, grad_outputs[0]))

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (self._kernel.backward(y, grad_outputs[0]),)


class SigmoidGrad(FunctionNode):
    """Gradient of the logistic function: ``gy * y * (1 - y)``."""

    accepts_opaque_arrays = True

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (self._kernel.backward(*inputs),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        y, gy = self.get_retained_inputs()
        g = grad_outputs[0]
        return g * gy * (1 - 2 * y), g * y * (1 - y)


def sigmoid(x: Any) -> Variable:
    """Element-wise sigmoid logistic function.

    .. math:: f(x)=(1 + \\exp(-x))^{-1}.

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``, in the range
        :math:`[0, 1]`.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.arange(-2, 3, 2).astype(np.float32)
        >>> F.sigmoid(x)
        variable([0.11920293, 0.5       , 0.880797  ])
    """
    return Sigmoid().apply((x,))[0]
