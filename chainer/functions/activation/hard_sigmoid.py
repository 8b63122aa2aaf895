"""Hard sigmoid."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import hard_sigmoid as hard_sigmoid_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class HardSigmoid(FunctionNode):
    """Piecewise linear approximation of the sigmoid."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        self._kernel = hard_sigmoid_operation.select(inputs[0])
        return (self._kernel.forward(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.retained_input_arrays
        gy = grad_outputs[0]
        inside = (x > -2.5) & (x < 2.5)
        return (gy * (inside * 0.2).astype(gy.dtype),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        return (self._kernel.backward(x, grad_outputs[0]),)


def hard_sigmoid(x: Any) -> Variable:
    """Elementwise hard-sigmoid function: ``clip(0.2 x + 0.5, 0, 1)``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.hard_sigmoid(np.array([-2.6, 0., 1., 2.6]))
        variable([0. , 0.5, 0.7, 1. ])
    """
    return HardSigmoid().apply((x,))[0]
