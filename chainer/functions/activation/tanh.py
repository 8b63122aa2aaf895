"""Hyperbolic tangent."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from chainer.backends.operations.activations import tanh as tanh_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import ArrayGrads, Arrays, DType, HostArray, Indexes, VariableLike
from chainer.functions._documentation import elementwise_sections
from chainer.functions.rules import (
    ExpressionFunction,
    KernelFunction,
    OneFloat,
    Ops,
    Value,
    Values,
)


@functools.cache
def _one(dtype: DType) -> HostArray:
    """Returns the number as an array, which NumPy takes in half of the time."""
    return numpy.ones((), dtype)


class Tanh(OneFloat, KernelFunction):
    """Hyperbolic tangent function."""

    is_pointwise = True

    # The gradient is a formula of the output, which the functions that follow keep anyway.
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (self.xp.tanh(inputs[0]),)

    def gradients(self, ops: Ops, targets: Indexes, y: Value, gy: Value) -> Values:
        return (gy * (1 - y * y),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        retained: Any = self._retained_output_arrays
        (y,) = retained
        (gy,) = grad_outputs
        if type(y) is not numpy.ndarray:
            return (tanh_operation.select(y).backward(y, gy),)
        # The formula of the reference kernel. To choose a kernel would cost as much as this.
        gx = y * y
        one = _one(y.dtype)
        gx = numpy.subtract(one, gx, out=gx) if gx.ndim else one - gx
        gx *= gy
        return (gx,)


class TanhGrad(ExpressionFunction):
    """Gradient of the hyperbolic tangent as a differentiable function of the output.

    Programs that define activations of their own apply it to the output ``y`` of the function and
    the gradient of ``y``.

    Args:
        x: Input of the hyperbolic tangent; not used.
    """

    is_pointwise = True

    type_check_key = ()
    retained_inputs = (0, 1)

    def __init__(self, x: VariableLike | None = None) -> None:
        self.x = x

    def forward(self, inputs: Arrays) -> Arrays:
        y, gy = inputs
        return (gy * (1 - y * y),)

    def gradients(self, ops: Ops, targets: Indexes, y: Value, gy: Value, ggx: Value) -> Values:
        return tuple([ggx * (1 - y * y) if i else -2 * y * gy * ggx for i in targets])


@elementwise_sections()
def tanh(x: VariableLike) -> Variable:
    """Elementwise hyperbolic tangent function.

    Example:
        >>> F.tanh(np.array([0.]))
        variable([0.])
    """
    return Tanh().apply((x,))[0]
