"""Hyperbolic tangent."""

from __future__ import annotations

from typing import Any

from chainer.core.function_node import FunctionNode
from chainer.core.utils import type_check
from chainer.core.variable import Variable


class Tanh(FunctionNode):
    """Hyperbolic tangent function."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        y = self.xp.tanh(inputs[0])
        self.retain_outputs((0,))
        return (y,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        (y,) = self.get_retained_outputs()
        return TanhGrad().apply((y, grad_outputs[0]))

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        (y,) = self.retained_output_arrays
        return (_gradient(y, grad_outputs[0]),)


class TanhGrad(FunctionNode):
    """Gradient of the hyperbolic tangent: ``gy * (1 - y * y)``."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0, 1))
        return (_gradient(*inputs),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        y, gy = self.get_retained_inputs()
        g = grad_outputs[0]
        return -2 * y * gy * g, g * (1 - y * y)


def _gradient(y: Any, gy: Any) -> Any:
    # Three passes of array by array: a Python scalar operand costs as much as another pass.
    gx = y * y
    gx *= gy
    return gy - gx


def tanh(x: Any) -> Variable:
    """Elementwise hyperbolic tangent function."""
    return Tanh().apply((x,))[0]
