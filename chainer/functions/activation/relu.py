"""Rectified linear unit."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class ReLU(FunctionNode):
    """Rectified linear unit."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_outputs((0,))
        return (self.xp.maximum(inputs[0], 0),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.retained_output_arrays
        return ReLUGrad(y > 0).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (grad_outputs[0] * (y > 0),)


class ReLUGrad(FunctionNode):
    """Gradient of the rectified linear unit: linear in the gradient of the output."""

    def __init__(self, mask: Any) -> None:
        self._mask = mask

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (inputs[0] * self._mask,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return ReLUGrad(self._mask).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (grad_outputs[0] * self._mask,)


def relu(x: Any) -> Variable:
    """Rectified Linear Unit function ``max(0, x)``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.relu(np.array([[-1., 0.], [2., -3.]]))
        variable([[0., 0.],
                  [2., 0.]])
    """
    return ReLU().apply((x,))[0]
