"""Nodes of powers."""

from __future__ import annotations

import math
from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check
from chainer.functions.math._operand import (
    as_operand,
    check_broadcastable,
    check_floating,
    constant_label,
    is_scalar,
    sum_to,
)
from chainer.functions.math.sum import sum_to as sum_variable_to


class PowVarVar(FunctionNode):
    """Power of two variables."""

    label = "_ ** _"  # type: ignore[assignment]
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        check_floating(in_types)
        check_broadcastable(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        self.retain_outputs((0,))
        return (inputs[0] ** inputs[1],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.math.exponential import log

        x0, x1 = self.get_retained_inputs()
        gy = grad_outputs[0]
        gxs: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gxs.append(sum_variable_to(x1 * x0 ** (x1 - 1) * gy, x0.shape))
            else:
                (y,) = self.get_retained_outputs()
                gxs.append(sum_variable_to(log(x0) * y * gy, x1.shape))
        return tuple(gxs)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        x0, x1 = self.retained_input_arrays
        (y,) = self.retained_output_arrays
        gy = grad_outputs[0]
        gxs: list[Any] = []
        for i in target_input_indexes:
            if i == 0:
                gxs.append(sum_to(_slope(x0, x1) * gy, x0.shape))
            else:
                gxs.append(sum_to(self.xp.log(x0) * y * gy, x1.shape))
        return tuple(gxs)


def _slope(x: Any, exponent: Any) -> Any:
    """Derivative of ``x ** exponent`` with respect to ``x``."""
    # x ** 0 is constant, at x = 0 too, where 0 * x ** -1 would be NaN.
    y = x ** (exponent - (exponent != 0))
    return y * exponent


class PowVarConst(FunctionNode):
    """Power of a variable and a constant exponent.

    Args:
        value: Exponent; scalar or array; it takes on the dtype of the variable.
    """

    type_check_key = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return f"_ ** {constant_label(self.value)}"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        check_floating(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self.retain_inputs((0,))
        if is_scalar(self.value) and self.value == 2:
            return (x * x,)
        return (x ** as_operand(self.value, x, self.xp),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (x,) = self.get_retained_inputs()
        gy = grad_outputs[0]
        value = self.value
        if not is_scalar(value):
            slope = x ** (value - (value != 0)) * value
            return (sum_variable_to(slope * gy, x.shape),)
        if value == 0:
            return (Variable(self.xp.zeros_like(x.array), requires_grad=False),)
        if value == 1:
            return (gy,)
        slope = x if value == 2 else x ** (value - 1)
        return (value * slope * gy,)

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (x,) = self.retained_input_arrays
        gy = grad_outputs[0]
        if is_scalar(self.value) and self.value == 2:
            gx = x * gy
            return (gx + gx,)
        exponent = as_operand(self.value, x, self.xp)
        return (sum_to(_slope(x, exponent) * gy, x.shape),)


class PowConstVar(FunctionNode):
    """Power of a constant base and a variable.

    Args:
        value: Base; scalar or array; it takes on the dtype of the variable.
    """

    type_check_key = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return f"{constant_label(self.value)} ** _"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        check_floating(in_types)

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x = inputs[0]
        self.retain_outputs((0,))
        base = as_operand(self.value, x, self.xp)
        self._log = _log_of(self.value) if is_scalar(self.value) else self.xp.log(base)
        return (base**x,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        gx = self._log * (y * grad_outputs[0])
        return (sum_variable_to(gx, self.inputs[0].shape),)  # type: ignore[index]

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        gx = y * grad_outputs[0]
        gx = gx * as_operand(self._log, y, self.xp)
        return (sum_to(gx, self.inputs[0].shape),)  # type: ignore[index]


def _log_of(base: Any) -> float:
    if base > 0:
        return math.log(base)
    return -math.inf if base == 0 else math.nan
