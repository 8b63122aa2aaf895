"""Rectified linear unit."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.activations import relu as relu_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class ReLU(FunctionNode):
    """Rectified linear unit."""

    accepts_opaque_arrays = True
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self._kernel = relu_operation.select(x)
        self.retain_outputs((0,))
        return (self._kernel.forward(x),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.retained_output_arrays
        return ReLUGrad(self._kernel, y).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (self._kernel.backward(y, grad_outputs[0]),)


class ReLUGrad(FunctionNode):
    """Gradient of the rectified linear unit; linear in ``gy``, constant in ``y``."""

    accepts_opaque_arrays = True

    def __init__(self, kernel: Any, y: Any) -> None:
        self._kernel = kernel
        self.y = y

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._kernel.backward(self.y, inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return ReLUGrad(self._kernel, self.y).apply(grad_outputs)


def relu(x: Any) -> Variable:
    """Rectified Linear Unit function.

    .. math:: f(x)=\\max(0, x).

    Args:
        x (:class:`~chainer.Variable` or array): Input of a floating point dtype and shape
            :math:`(s_1, s_2, ..., s_N)`.

    Returns:
        ~chainer.Variable: Output variable of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    Example:
        >>> x = np.array([[-1, 0], [2, -3], [-2, 1]], np.float32)
        >>> F.relu(x).array
        array([[0., 0.],
               [2., 0.],
               [0., 1.]], dtype=float32)
    """
    return ReLU().apply((x,))[0]
