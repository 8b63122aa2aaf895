"""Gradients of functions that can be differentiated once only."""

# Stands for inputs of which nothing but the node was retained.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays, Grads, Indexes


class _LastGradients(FunctionNode):
    """Gradients that are known; they refuse to be differentiated."""

    type_check_key = ()

    def __init__(self, gradients: tuple[Any, ...], refusal: str) -> None:
        self._gradients = gradients
        self._refusal = refusal

    def forward(self, inputs: Arrays) -> Arrays:
        gradients, self._gradients = self._gradients, ()
        return gradients

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        raise RuntimeError(self._refusal)


def gradients_once(
    function: FunctionNode, targets: tuple[int, ...], grad_outputs: Sequence[Variable], refusal: str
) -> tuple[Variable | None, ...]:
    """Returns the gradients that the rule of a function for arrays computes, as Variables.

    They depend on the inputs and on the given gradients, so that differentiating them again is an
    error and not zero.

    Args:
        function: Function whose ``backward_arrays`` is its whole rule.
        targets: Indexes of the inputs to differentiate with respect to.
        grad_outputs: Gradients w.r.t. the outputs.
        refusal: Text of that error.
    """
    arrays = function.backward_arrays(targets, tuple([gy.array for gy in grad_outputs]))
    if not config.enable_backprop:
        return tuple([None if gx is None else Variable(gx) for gx in arrays])
    found = [(i, gx) for i, gx in zip(targets, arrays, strict=True) if gx is not None]
    inputs = [_stand_in(function, i, gx) for i, gx in found]
    node = _LastGradients(tuple([gx for _, gx in found]), refusal)
    variables = dict(zip([i for i, _ in found], node.apply((*inputs, *grad_outputs)), strict=True))
    return tuple([variables.get(i) for i in targets])


def _stand_in(function: FunctionNode, index: int, array: Array) -> Variable:
    """Returns a Variable at the place of an input in the graph, whatever its values are."""
    node = (function.inputs or ())[index]
    variable = Variable(array, requires_grad=node.requires_grad)
    variable._node = node
    return variable
