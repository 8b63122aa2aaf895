"""Softplus."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import softplus as softplus_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Softplus(FunctionNode):
    """Smooth approximation of the rectified linear unit."""

    type_check_key = ()

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = float(beta)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        (x,) = inputs
        self._kernel = softplus_operation.select(x, beta=self.beta)
        return (self._kernel.forward(x, self.beta),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.activation.sigmoid import sigmoid

        (x,) = self.get_retained_inputs()
        return (sigmoid(x * self.beta) * grad_outputs[0],)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        return (self._kernel.backward(x, grad_outputs[0], self.beta),)


def softplus(x: Any, beta: float = 1.0) -> Variable:
    """Elementwise softplus ``log(1 + exp(beta x)) / beta``, a smooth approximation of ReLU.

    Args:
        x (Variable or array): Input of any shape, floating point.
        beta (float): The larger, the nearer to ReLU.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.softplus(np.array([0., 100.]))
        variable([  0.69314718, 100.        ])
    """
    return Softplus(beta).apply((x,))[0]
