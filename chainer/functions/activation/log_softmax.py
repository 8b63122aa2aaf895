"""Logarithm of softmax."""

from __future__ import annotations

from typing import Any

from chainer.backends import operations
from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable
from chainer.functions.array._axis import expect_axis


class LogSoftmax(FunctionNode):
    """Logarithm of normalized exponentials along an axis."""

    type_check_key = ("axis",)

    def __init__(self, axis: int = 1) -> None:
        self.axis = axis

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f")
        expect_axis(in_types[0], self.axis)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_outputs((0,))
        (x,) = inputs
        self._kernel = operations.log_softmax.select(x, axis=self.axis)
        return (self._kernel.forward(x, self.axis),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.broadcast import broadcast_to
        from chainer.functions.math.exponential import exp
        from chainer.functions.math.sum import sum

        (y,) = self.get_retained_outputs()
        (gy,) = grad_outputs
        total = broadcast_to(sum(gy, axis=self.axis, keepdims=True), y.shape)
        return (gy - exp(y) * total,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (self._kernel.backward(y, grad_outputs[0], self.axis),)


def log_softmax(x: Any, axis: int = 1) -> Variable:
    """Channel-wise log-softmax function: ``log(softmax(x))``, which does not underflow.

    Args:
        x (Variable or array): Input of two axes or more by default, floating point.
        axis (int): Axis along which the exponentials of the outputs sum up to one.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit or the axis does not exist.

    Example:
        >>> F.log_softmax(np.array([[0., 1000.]]))
        variable([[-1000.,     0.]])
    """
    return LogSoftmax(axis).apply((x,))[0]
