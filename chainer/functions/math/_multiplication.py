"""Nodes of products and quotients."""

# The shapes of inputs are read from the graph without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes
from chainer.functions._broadcasting import reduce_to_shape
from chainer.functions.math._operand import as_operand
from chainer.functions.math._operators import (
    BroadcastingFunction,
    ConstantOperator,
    FloatBroadcastingFunction,
)
from chainer.functions.rules import OneFloat, Ops, Value


class Mul(BroadcastingFunction):
    """Product of two variables."""

    is_elementwise = True

    label = "_ * _"
    retained_inputs = (0, 1)

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0] * inputs[1],)

    def partials(self, ops: Ops, targets: Indexes, x0: Value, x1: Value, gy: Value) -> list[Value]:
        # A square: both gradients are the same. Function hooks expect two products.
        if x0 is x1 and len(targets) == 2 and not threads.state.hooks:
            return [gy * x0] * 2
        if len(targets) == 1:  # without the call of a comprehension
            return [gy * (x0 if targets[0] else x1)]
        return [gy * (x0 if i else x1) for i in targets]

    # The same without the calls in between: products are as frequent as sums.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        (gy,) = grad_outputs
        nodes: Any = self.inputs
        if nodes[0] is nodes[1] and len(target_input_indexes) == 2:
            gx = gy * nodes[0].data
            return (gx, gx)
        gxs: list[Array] = []
        for i in target_input_indexes:
            gx = gy * nodes[1 - i].data
            shape = nodes[i]._type[1]
            gxs.append(gx if gx.shape == shape else reduce_to_shape(gx, shape))
        return tuple(gxs)


class MulConstant(ConstantOperator):
    """Product of a variable and a constant."""

    is_elementwise = True

    symbol = "_ * {}"

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        # Kept for the gradient, which multiplies by the same.
        self._operand = as_operand(self.value, x, self.xp)
        return (x * self._operand,)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        # The operator makes the same node, but checks the operand again.
        if isinstance(gy, Variable):
            return MulConstant(self._operand).apply((gy,))[0]
        return gy * self._operand

    # The same without the calls in between, which take as long as the product of small arrays.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gx = grad_outputs[0] * self._operand
        nodes: Any = self.inputs
        shape = nodes[0]._type[1]
        return (gx if gx.shape == shape else reduce_to_shape(gx, shape),)


class Div(FloatBroadcastingFunction):
    """Quotient of two variables."""

    is_elementwise = True

    label = "_ / _"
    # The numerator is not needed: d(x0 / x1) / dx1 = -y / x1.
    retained_inputs = (1,)
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0] / inputs[1],)

    def partials(self, ops: Ops, targets: Indexes, x1: Value, y: Value, gy: Value) -> list[Value]:
        gx = gy / x1
        return [-gx * y if i else gx for i in targets]


class DivFromConstant(OneFloat, ConstantOperator):
    """Quotient of a constant and a variable."""

    is_elementwise = True

    symbol = "{} / _"
    retained_inputs = (0,)
    retained_outputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        return (as_operand(self.value, x, self.xp) / x,)

    def gradient(self, ops: Ops, x: Value, y: Value, gy: Value) -> Value:
        return -y / x * gy
