"""Hyperbolic tangent."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.operations.activations import tanh as tanh_operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.utils import type_check


class Tanh(FunctionNode):
    """Hyperbolic tangent function."""

    type_check_key = ()
    # What retain_outputs((0,)) in forward says each time, said once: the function is that cheap.
    _retained_outputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.xp.tanh(inputs[0]),)

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
        gradients = {0: lambda: -2 * y * gy * g, 1: lambda: g * (1 - y * y)}
        return tuple([gradients[i]() for i in target_input_indexes])


def _gradient(y: Any, gy: Any) -> Any:
    if type(y) is not numpy.ndarray:
        return tanh_operation.select(y).backward(y, gy)
    # What the reference kernel computes; the function is so cheap that choosing a kernel counts.
    gx = y * y
    gx *= gy
    return gy - gx


def tanh(x: Any) -> Variable:
    """Elementwise hyperbolic tangent function.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.tanh(np.array([0.]))
        variable([0.])
    """
    return Tanh().apply((x,))[0]
