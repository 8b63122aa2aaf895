"""Softplus."""

from __future__ import annotations

from chainer.backends.operations.activations import softplus as softplus_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, Indexes, VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import KernelFunction, OneFloat, Ops, Value, Values


class Softplus(OneFloat, KernelFunction):
    """Smooth approximation of the rectified linear unit."""

    is_pointwise = True

    retained_inputs = (0,)

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = float(beta)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        self._kernel = softplus_operation.select(x, beta=self.beta)
        return (self._kernel.forward(x, self.beta),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (x,) = self.retained_input_arrays
        return (self._kernel.backward(x, grad_outputs[0], self.beta),)

    def gradients(self, ops: Ops, targets: Indexes, x: Value, gy: Value) -> Values:
        return (ops.sigmoid(x * self.beta) * gy,)


@elementwise_sections(more="    beta (float): The larger, the nearer to ReLU.\n")
def softplus(x: VariableLike, beta: float = 1.0) -> Variable:
    """Elementwise softplus ``log(1 + exp(beta x)) / beta``, a smooth approximation of ReLU.

    Example:
        >>> F.softplus(np.array([0., 100.]))
        variable([  0.69314718, 100.        ])
    """
    return Softplus(beta).apply((x,))[0]
