"""Nodes of the graph that run programs."""

# The nodes read private state of the graph for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.arrays.lookup import backend_of
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads
from chainer.core.typing import ArrayGrads, Arrays, Grads, Indexes, Variables
from chainer.core.utils import type_check
from chainer.functions.rules.formulas.programs import Program

_ndarray = numpy.ndarray


class FormulaNode(FunctionNode):
    """Elementwise function that a program computes. So are its gradients, of any order.

    Args:
        program: The program.
        label: Text that represents the node.
    """

    is_elementwise = True
    is_rule_pure = True
    type_check_key = ()

    def __init__(self, program: Program, label: str) -> None:
        self._program = program
        self._label = label

    @property
    def label(self) -> str:
        return self._label

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        first = in_types[0]
        for x in in_types[1:]:
            type_check.expect(x.dtype == first.dtype, x.shape == first.shape)

    def forward(self, inputs: Arrays) -> Arrays:
        if threads.state.enable_backprop:
            self._retained_inputs = self._program.reads
        return self._program.run(self.xp, inputs)

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        adjoint = self._program.adjoint(target_input_indexes, _given(grad_outputs))
        if adjoint.program is None:
            return adjoint.in_place(())
        retained = self.get_retained_inputs()
        if adjoint.inputs != self._retained_inputs:
            found = dict(zip(self._retained_inputs, retained, strict=True))
            retained = tuple([found[i] for i in adjoint.inputs])
        gys = grad_outputs
        if len(gys) > 1 or not adjoint.outputs:
            gys = tuple([gys[j] for j in adjoint.outputs])
        values = (*retained, *gys)
        node = FormulaNode(adjoint.program, f"{self.label}Grad")
        return adjoint.in_place(node.apply(values))  # type: ignore[arg-type]

    def backward_arrays(
        self, target_input_indexes: Indexes, grad_outputs: ArrayGrads
    ) -> ArrayGrads:
        given = _ONE if len(grad_outputs) == 1 else _given(grad_outputs)
        adjoint = self._program.adjoint(target_input_indexes, given)
        program, inputs, outputs, places = adjoint
        if program is None:
            return adjoint.in_place(())
        nodes = self.inputs or self.input_nodes
        values: list[Any] = []
        # Loops, because the calls of comprehensions count for small arrays.
        for i in inputs:
            values.append(nodes[i].data)
        for j in outputs:
            values.append(grad_outputs[j])
        if self.xp is not numpy:
            values = [backend_of(x).to_xp(x) for x in values]
        gradients = program.run(self.xp, values)
        return gradients if len(gradients) == len(places) else adjoint.in_place(gradients)


class FirstGradient(FormulaNode):
    """Gradient of a function by its own array code; the formula gives the gradients of it.

    So first-order gradients do not depend on whether they are differentiated again.

    Args:
        program: The program that computes the same.
        function: The function. It keeps the arrays that its array code needs.
        targets: Indexes of the inputs of the function whose gradients are required.
        given: For each output of the function, whether it has a gradient.
    """

    # Whether arrays have to be converted depends on the function, not on this class.
    accepts_opaque_arrays = True

    def __init__(
        self, program: Program, function: FunctionNode, targets: Indexes, given: Sequence[bool]
    ) -> None:
        self._program = program
        self._function = function
        self._function_targets = targets
        self._is_given = given
        # They are known: a program without gradients is not used here.
        self._retained_inputs = program.reads

    @property
    def label(self) -> str:
        return f"{type(self._function).__name__}Grad"

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # The function keeps the arrays of one sample, so the program computes the gradient.
        node = FormulaNode(self._program, self.label)
        return node.batched(inputs, are_batched, size)

    def forward(self, inputs: Arrays) -> Arrays:
        if self.xp is numpy and len(self._is_given) == 1:  # the usual case
            return self._function.backward_arrays(self._function_targets, inputs[-1:])  # type: ignore[return-value]
        if not self._function.accepts_opaque_arrays and self.xp is not numpy:
            inputs = tuple([backend_of(x).to_xp(x) for x in inputs])
        gradients = iter(inputs[len(inputs) - sum(self._is_given) :])
        gys = tuple([next(gradients) if is_given else None for is_given in self._is_given])
        return self._function.backward_arrays(self._function_targets, gys)  # type: ignore[return-value]


def _given(grad_outputs: Sequence[Any]) -> Indexes:
    if len(grad_outputs) == 1:
        return _ONE
    return tuple([j for j, gy in enumerate(grad_outputs) if gy is not None])


#: Index of the only output, which nearly all nodes have.
_ONE = (0,)
#: Whether the outputs of a function have gradients, in the usual case.
_GIVEN = (True,)


def gradients_by_formula(
    function: Any, values: Sequence[Any], targets: Indexes, grad_outputs: Grads
) -> Grads | None:
    """Returns the gradients of a function as one node, if its rule is a formula.

    Args:
        function: The function, a node with the methods ``gradients`` and ``backward_arrays``.
        values: The retained inputs and outputs, as Variables.
        targets: Indexes of the inputs whose gradients are required.
        grad_outputs: Gradients of the outputs; None where there is none.

    Returns:
        tuple: One Variable for each target. None if gradients are not to be differentiated again,
            if the arrays do not have one dtype and shape, or if the rule is not a formula.
    """
    state = threads.state
    # Function hooks see the operators that gradients consist of, as in earlier releases.
    if not state.enable_backprop or state.hooks:
        return None
    if not values:
        return None
    arguments = (*values, *grad_outputs)
    first = values[0]
    if first is None or first._array is None:
        return None
    dtype, shape = first._array.dtype, first._array.shape
    # bfloat16 and the like are not promoted as NumPy's own dtypes are. Their kind is another one.
    if dtype.kind != "f":
        return None
    present: list[Variable] = []
    # One loop without calls: many functions have operands of several shapes, and come here in vain.
    for x in arguments:
        if x is None:
            continue
        array = x._array
        if array is None or array.shape != shape:
            return None
        if array.dtype is not dtype and array.dtype != dtype:
            return None
        present.append(x)
    # An input that is not retained may have another shape, and be broadcast.
    for node in function.inputs or function.input_nodes:
        if node._type[1] is not shape and node._type[1] != shape:
            return None
    given = _GIVEN
    if len(present) != len(arguments) or len(grad_outputs) != 1:
        given = tuple([gy is not None for gy in grad_outputs])
        if len(present) - sum(given) != len(values):
            return None
    program = type(function)._formulas.find(function, targets, given, arguments, dtype)
    if program is None:
        return None
    return FirstGradient(program, function, targets, given).apply(present)
