"""Nodes of sums, differences, negation and absolute value."""

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


class Neg(FunctionNode):
    """Element-wise negation."""

    label = "__neg__"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (-inputs[0],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (-grad_outputs[0],)

    backward_arrays = backward


class Absolute(FunctionNode):
    """Element-wise absolute value."""

    label = "|_|"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        check_floating(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        return (abs(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.retained_input_arrays
        return AbsoluteGrad(x).apply(grad_outputs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        return (self.xp.sign(x) * grad_outputs[0],)


class AbsoluteGrad(FunctionNode):
    """Gradient of the absolute value: ``sign(x) * gy``; linear in ``gy``, constant in ``x``."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.xp.sign(self.x) * inputs[0],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return AbsoluteGrad(self.x).apply(grad_outputs)


class Add(FunctionNode):
    """Sum of two variables."""

    accepts_opaque_arrays = True
    label = "_ + _"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (inputs[0] + inputs[1],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gy = grad_outputs[0]
        inputs = self.inputs or ()
        return tuple([sum_variable_to(gy, inputs[i].shape) for i in target_input_indexes])

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x0, x1 = self.inputs  # type: ignore[misc]
        if x0._type == x1._type:
            return grad_outputs * len(target_input_indexes)
        inputs = (x0, x1)
        return tuple([sum_to(grad_outputs[0], inputs[i].shape) for i in target_input_indexes])


class MultiAdd(FunctionNode):
    """Sum of any number of variables."""

    accepts_opaque_arrays = True
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        y = inputs[0]
        if len(inputs) == 1:
            return (y,)
        shape = y.shape
        y = y + inputs[1]
        for x in inputs[2:]:
            if y.ndim and x.shape == shape:
                y += x
            else:
                y = y + x
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gy = grad_outputs[0]
        inputs = self.inputs or ()
        return tuple([sum_variable_to(gy, inputs[i].shape) for i in target_input_indexes])

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        inputs = self.inputs or ()
        return tuple([sum_to(grad_outputs[0], inputs[i].shape) for i in target_input_indexes])


class AddConstant(FunctionNode):
    """Sum of a variable and a constant.

    Args:
        value: Scalar or array; it takes on the dtype of the variable.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return f"_ + {constant_label(self.value)}"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        return (x + as_operand(self.value, x, self.xp),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (sum_variable_to(grad_outputs[0], self.inputs[0].shape),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (sum_to(grad_outputs[0], self.inputs[0].shape),)  # type: ignore[index]


class Sub(FunctionNode):
    """Difference of two variables."""

    label = "_ - _"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (inputs[0] - inputs[1],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        gy = grad_outputs[0]
        inputs = self.inputs or ()
        return tuple(
            [sum_variable_to(-gy if i else gy, inputs[i].shape) for i in target_input_indexes]
        )

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        gy = grad_outputs[0]
        gxs: list[Any] = []
        for i in target_input_indexes:
            gx = sum_to(gy, self.inputs[i].shape)  # type: ignore[index]
            gxs.append(-gx if i else gx)
        return tuple(gxs)


class SubFromConstant(FunctionNode):
    """Difference of a constant and a variable.

    Args:
        value: Scalar or array; it takes on the dtype of the variable.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return f"{constant_label(self.value)} - _"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        return (as_operand(self.value, x, self.xp) - x,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        return (-sum_variable_to(grad_outputs[0], self.inputs[0].shape),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        return (-sum_to(grad_outputs[0], self.inputs[0].shape),)  # type: ignore[index]
