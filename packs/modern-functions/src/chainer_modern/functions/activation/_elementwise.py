"""Elementwise functions of one floating-point input."""

from __future__ import annotations

from typing import Any

import chainer
from chainer.functions.rules import KernelFunction
from chainer.typing import Arrays, Indexes
from chainer.utils import type_check
from chainer_modern.blocks import elementwise


class Elementwise(KernelFunction):
    """Base of elementwise functions: values, slopes, and slopes as differentiable functions."""

    type_check_key = ()
    retained_inputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        """Checks the input."""
        type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == "f")

    def values(self, xp: Any, x: Any) -> tuple[Any]:
        """Returns the function of a one-dimensional array, as a new array."""
        raise NotImplementedError

    def values_and_slopes(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns the function and its derivative, as new arrays."""
        raise NotImplementedError

    def derivative(self, x: chainer.Variable) -> Any:
        """Returns the derivative by differentiable functions."""
        raise NotImplementedError

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the output."""
        (x,) = inputs
        if not chainer.config.enable_backprop:
            return tuple(elementwise(self.xp, self.values, x))
        # Output and slope share most of the work, and while a block is in the cache the slope is
        # nearly free.
        y, self._slope = elementwise(self.xp, self.values_and_slopes, x)
        return (y,)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: Arrays) -> Arrays:
        """Computes the gradient on arrays."""
        return (self._slope * grad_outputs[0],)

    def gradients(self, ops: Any, targets: Indexes, x: Any, gy: Any) -> tuple[Any, ...]:
        """Computes the gradient, differentiable again."""
        return (self.derivative(x) * gy,)
