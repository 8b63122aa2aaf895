"""Nodes of sums, differences, negation and absolute value."""

# The shapes of inputs are read from the graph without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.misuse import warn_once
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, Shape
from chainer.core.utils import type_check
from chainer.functions._broadcasting import reduce_to_shape
from chainer.functions.math._operand import as_operand, check_broadcastable
from chainer.functions.math._operators import BroadcastingFunction, ConstantOperator
from chainer.functions.math.sum import SumTo
from chainer.functions.rules import (
    ExpressionFunction,
    OneFloat,
    Ops,
    UnaryFunction,
    Value,
    Values,
    expect_one_array,
)
from chainer.functions.rules.batching import BroadcastsInputs


class Neg(UnaryFunction):
    """Element-wise negation."""

    is_elementwise = True

    label = "__neg__"
    type_check_key = ()
    check_type_forward = expect_one_array

    def forward(self, inputs: Arrays) -> Arrays:
        return (-inputs[0],)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        return -gy


class Absolute(OneFloat, UnaryFunction):
    """Element-wise absolute value."""

    is_elementwise = True

    label = "|_|"
    retained_inputs = (0,)

    def forward(self, inputs: Arrays) -> Arrays:
        return (abs(inputs[0]),)

    def gradient(self, ops: Ops, x: Value, gy: Value) -> Value:
        return ops.sign(x) * gy


class Add(BroadcastingFunction):
    """Sum of two variables."""

    is_elementwise = True

    accepts_opaque_arrays = True
    label = "_ + _"

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0] + inputs[1],)

    def partials(self, ops: Ops, targets: Indexes, gy: Value) -> list[Value]:
        return [gy] * len(targets)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        nodes: Any = self.inputs
        x0, x1 = nodes
        # The most frequent operation: nothing is to be computed if nothing was broadcast. The
        # private attributes are read without the calls of properties.
        if x0._type == x1._type:
            return grad_outputs * len(target_input_indexes)
        (gy,) = grad_outputs
        return tuple([reduce_to_shape(gy, self.input_shape(i)) for i in target_input_indexes])


class MultiAdd(BroadcastsInputs, ExpressionFunction):
    """Sum of any number of variables."""

    is_elementwise = True

    accepts_opaque_arrays = True
    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        check_broadcastable(in_types)

    def forward(self, inputs: Arrays) -> Arrays:
        y = inputs[0]
        if len(inputs) == 1:
            return (y,)
        shape = y.shape
        y = y + inputs[1]
        for x in inputs[2:]:
            # In place, unless the sum is a NumPy scalar or its shape may grow.
            if y.ndim and x.shape == shape:
                y += x
            else:
                y = y + x
        return (y,)

    def gradients(self, ops: Ops, targets: Indexes, gy: Value) -> Values:
        return tuple([ops.sum_to(gy, self.input_shape(i)) for i in targets])


class AddConstant(ConstantOperator):
    """Sum of a variable and a constant."""

    is_elementwise = True

    symbol = "_ + {}"

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        return (x + as_operand(self.value, x, self.xp),)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        return gy

    # The same without the calls in between: nothing is to be computed, unless the constant has
    # repeated the input.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gx: Array = grad_outputs[0]
        nodes: Any = self.inputs
        shape = nodes[0]._type[1]
        return (gx if gx.shape == shape else reduce_to_shape(gx, shape),)


class Sub(BroadcastingFunction):
    """Difference of two variables."""

    is_elementwise = True

    label = "_ - _"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        super().check_type_forward(in_types)
        # Types are checked at the first call with these shapes, so that this costs nothing later.
        warn_of_column_and_vector(*[type_check.eval(each.shape) for each in in_types])

    def forward(self, inputs: Arrays) -> Arrays:
        return (inputs[0] - inputs[1],)

    def partials(self, ops: Ops, targets: Indexes, gy: Value) -> list[Value]:
        return [-gy if i else gy for i in targets]

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        (gy,) = values
        if not isinstance(gy, Variable) or threads.state.hooks:
            return super().gradients(ops, targets, gy)
        # One node in place of two where the subtrahend was broadcast. Function hooks expect two.
        nodes = self.inputs or self.input_nodes
        gxs: list[Variable] = []
        for i in targets:
            shape = nodes[i]._type[1]
            if gy._array.shape == shape:
                gxs.append(-gy if i else gy)
            else:
                gxs.append(SumTo(shape, i == 1).apply((gy,))[0])
        return tuple(gxs)

    # The same without the calls in between, as for sums.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gy: Array = grad_outputs[0]
        nodes: Any = self.inputs
        gxs: list[Array] = []
        for i in target_input_indexes:
            gx = -gy if i else gy
            shape = nodes[i]._type[1]
            gxs.append(gx if gx.shape == shape else reduce_to_shape(gx, shape))
        return tuple(gxs)


def warn_of_column_and_vector(*shapes: Shape) -> None:
    """Warns of the difference of ``(N, 1)`` and ``(N,)``: predictions and targets, as a rule.

    Args:
        shapes: The two shapes.
    """
    if sum(map(len, shapes)) != 3:
        return
    column, vector = sorted(shapes, key=len, reverse=True)
    if len(vector) == 1 and len(column) == 2 and column == (vector[0], 1) and vector[0] > 1:
        warn_once(
            "column and vector",
            "difference",
            f"the difference of arrays of the shapes {shapes[0]} and {shapes[1]} has the shape "
            f"{(vector[0], vector[0])}. If it is the error of predictions, give both one shape; "
            "for all pairs write x[:, None] - y[None]",
            stacklevel=6,
        )


class SubFromConstant(ConstantOperator):
    """Difference of a constant and a variable."""

    is_elementwise = True

    symbol = "{} - _"

    def forward(self, inputs: Arrays) -> Arrays:
        x = inputs[0]
        return (as_operand(self.value, x, self.xp) - x,)

    def gradient(self, ops: Ops, gy: Value) -> Value:
        return -gy
