"""Base classes of functions of two operands whose shapes are broadcast."""

# The shapes of inputs are read from the graph without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import ClassVar

import numpy

from chainer import functions
from chainer.core.autograd.forward_mode import sum_of
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import (
    ArrayGrads,
    ArrayLike,
    Arrays,
    Grads,
    Indexes,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.functions._broadcasting import reduce_to_shape
from chainer.functions.math._operand import check_broadcastable, constant_label, is_scalar
from chainer.functions.rules import ExpressionFunction, Ops, UnaryFunction, Value, Values
from chainer.functions.rules.array_functions import array_functions, numpy_functions
from chainer.functions.rules.batching import BroadcastsInputs, beside_constant


def need_no_node(lhs: VariableLike, rhs: Variable) -> bool:
    """Returns whether an operator of two Variables makes no graph and has nothing to check.

    That is so for arrays of NumPy of one shape and one dtype. Text is decoded by many sums of few
    numbers, which take less time than a function node.

    Args:
        lhs: The left operand.
        rhs: The right operand.
    """
    state = threads.state
    if not state.needs_no_node():
        return False
    if type(lhs) is not Variable:
        return False
    x, y = lhs._array, rhs._array
    if not type(x) is type(y) is numpy.ndarray:
        return False
    # NumPy returns numbers of another type for arrays without axes.
    return x.dtype == y.dtype and x.shape == y.shape != ()


class BroadcastingFunction(BroadcastsInputs, ExpressionFunction):
    """Function of two arrays whose shapes are broadcast; subclasses define :meth:`partials`."""

    argument_names = ("lhs", "rhs")

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2)
        check_broadcastable(in_types)

    def partials(self, ops: Ops, targets: Indexes, *values: Value) -> list[Value]:
        """Computes the gradients of inputs in the shape of the output; else as ``gradients``."""
        raise NotImplementedError

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        gxs = self.partials(ops, targets, *values)
        nodes = self.inputs or self.input_nodes
        if nodes[0]._type[1] != nodes[1]._type[1]:
            for place, i in enumerate(targets):
                shape = nodes[i]._type[1]
                if gxs[place].shape != shape:
                    gxs[place] = ops.sum_to(gxs[place], shape)
        return tuple(gxs)

    def tangents(self, moving: Indexes, tangents: Variables) -> Grads:
        # Each partial derivative is diagonal in the shape of the output, to which tangents are
        # broadcast as the operands were.
        values = self.retained_variables()
        (reference,) = self.outputs or (None,)
        node = None if reference is None else reference()
        total: Variable | None = None
        for i, tangent in zip(moving, tangents, strict=True):
            if node is not None and tangent.shape != node.shape:
                tangent = functions.broadcast_to(tangent, node.shape)
            total = sum_of(total, self.partials(functions, (i,), *values, tangent)[0])
        return (total,)

    # The base class does the same by way of gradients(). Here is a shortcut: nothing is summed
    # where no shape was broadcast, and operators of small arrays take as long as the calls around
    # them.
    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        ops = numpy_functions if self.xp is numpy else array_functions(self.xp)
        gxs = self.partials(*self.rule_arguments((ops, target_input_indexes), grad_outputs))
        x0, x1 = self.input_nodes
        if x0.shape == x1.shape:
            return tuple(gxs)
        shapes = (x0.shape, x1.shape)
        return tuple([reduce_to_shape(gx, shapes[i]) for i, gx in zip(target_input_indexes, gxs)])


class FloatBroadcastingFunction(BroadcastingFunction):
    """Function of two floating-point arrays whose shapes are broadcast."""

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 2, in_types[0].dtype.kind == "f")
        check_broadcastable(in_types)


class ConstantOperator(UnaryFunction):
    """Operator of a Variable and a constant, whose shapes are broadcast.

    Args:
        value: The constant, a number or an array.
    """

    #: Text of the operation: an underscore for the Variable, braces for the constant.
    symbol: ClassVar[str]
    type_check_key = ()

    def __init__(self, value: ArrayLike) -> None:
        self.value = value

    @property
    def label(self) -> str:
        return self.symbol.format(constant_label(self.value))

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return self.apply((beside_constant(inputs[0], self.value),))

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        gx = self.gradient(ops, *values)
        # The usual case without further calls. Nothing was broadcast.
        shape = (self.inputs or self.input_nodes)[0]._type[1]
        if isinstance(gx, Variable) and gx._array.shape == shape:
            return (gx,)
        # A number has no shape that the input could have been broadcast to.
        return (gx if is_scalar(self.value) else ops.sum_to(gx, shape),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        gxs = super().backward_arrays(target_input_indexes, grad_outputs)
        if is_scalar(self.value):
            return gxs
        return (reduce_to_shape(gxs[0], self.input_shape(0)),)
