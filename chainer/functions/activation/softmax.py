"""Softmax."""

from __future__ import annotations

from typing import Any

from chainer.backends import operations
from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable
from chainer.functions.array._axis import expect_axis


class Softmax(FunctionNode):
    """Normalized exponentials along an axis."""

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
        self._kernel = operations.softmax.select(x, axis=self.axis)
        return (self._kernel.forward(x, self.axis),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.broadcast import broadcast_to
        from chainer.functions.math.sum import sum

        (y,) = self.get_retained_outputs()
        weighted = y * grad_outputs[0]
        total = broadcast_to(sum(weighted, axis=self.axis, keepdims=True), y.shape)
        return (weighted - y * total,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (self._kernel.backward(y, grad_outputs[0], self.axis),)


def softmax(x: Any, axis: int = 1) -> Variable:
    """Softmax function: ``exp(x) / sum(exp(x))`` along an axis.

    Args:
        x (Variable or array): Input of two axes or more by default, floating point.
        axis (int): Axis along which the outputs sum up to one.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit or the axis does not exist.

    Example:
        >>> F.softmax(np.array([[0., 0., 1000.]]))
        variable([[0., 0., 1.]])
    """
    return Softmax(axis).apply((x,))[0]
