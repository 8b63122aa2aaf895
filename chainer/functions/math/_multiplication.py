"""Nodes of products and quotients."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.functions.math._operand import (
    as_operand,
    check_broadcastable,
    check_floating,
    constant_label,
    sum_to,
)
from chainer.functions.math.sum import sum_to as sum_variable_to


class Mul(FunctionNode):
    """Product of two variables."""

    label = "_ * _"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        xs = self.get_retained_inputs()
        gy = grad_outputs[0]
        return tuple([sum_variable_to(gy * xs[1 - i], xs[i].shape) for i in target_input_indexes])

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x0, x1 = self.inputs  # type: ignore[misc]
        gy = grad_outputs[0]
        gxs: list[Any] = []
        for i in target_input_indexes:
            x, other = (x1, x0) if i else (x0, x1)
            gx = gy * other.data
            gxs.append(gx if x0._type == x1._type else sum_to(gx, x.shape))
        return tuple(gxs)


class MulConstant(FunctionNode):
    """Product of a variable and a constant.

    Args:
        value: Scalar or array; it takes on the dtype of the variable.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return f"_ * {constant_label(self.value)}"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self._operand = as_operand(self.value, x, self.xp)
        return (x * self._operand,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gx = MulConstant(self.value).apply(grad_outputs)[0]
        return (sum_variable_to(gx, self.inputs[0].shape),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        gx = grad_outputs[0] * self._operand
        return (sum_to(gx, self.inputs[0].shape),)  # type: ignore[index]


class Div(FunctionNode):
    """Quotient of two variables."""

    label = "_ / _"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        check_floating(in_types)
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        # The numerator is not needed: d(x0 / x1) / dx1 = -y / x1.
        self.retain_inputs((1,))
        self.retain_outputs((0,))
        return (inputs[0] / inputs[1],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x1,) = self.get_retained_inputs()
        gx = grad_outputs[0] / x1
        gxs: list[Any] = []
        for i in target_input_indexes:
            shape = self.inputs[i].shape  # type: ignore[index]
            gxs.append(sum_variable_to(-gx * self.get_retained_outputs()[0] if i else gx, shape))
        return tuple(gxs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x1,) = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        gx = grad_outputs[0] / x1
        gxs: list[Any] = []
        for i in target_input_indexes:
            shape = self.inputs[i].shape  # type: ignore[index]
            gxs.append(-sum_to(gx * y, shape) if i else sum_to(gx, shape))
        return tuple(gxs)


class DivFromConstant(FunctionNode):
    """Quotient of a constant and a variable.

    Args:
        value: Scalar or array; it takes on the dtype of the variable.
    """

    type_check_key = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return f"{constant_label(self.value)} / _"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        check_floating(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        return (as_operand(self.value, x, self.xp) / x,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        return (-sum_variable_to(y / x * grad_outputs[0], x.shape),)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        return (-sum_to(y / x * grad_outputs[0], x.shape),)
