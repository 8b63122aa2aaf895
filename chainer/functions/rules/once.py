"""Gradients that cannot be differentiated again."""

# A stand-in for an input refers to the node of that input.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays, Grads, Indexes


class OnceDifferentiableGrad(FunctionNode):
    """Precomputed gradients; differentiating them again is an error.

    Args:
        gradients: The gradients.
        error_message: Text of that error.
    """

    type_check_key = ()

    def __init__(self, gradients: Arrays, error_message: str) -> None:
        self._gradients = gradients
        self._error_message = error_message

    def forward(self, inputs: Arrays) -> Arrays:
        gradients, self._gradients = self._gradients, ()
        return gradients

    def backward(self, target_input_indexes: Indexes, grad_outputs: Grads) -> Grads:
        # This is a RuntimeError, which programs catch.
        raise NotImplementedError(self._error_message)


def once_differentiable(
    function: FunctionNode,
    targets: Indexes,
    grad_outputs: Sequence[Variable | None],
    error_message: str,
) -> Grads:
    """Returns gradients that cannot be differentiated again.

    For the ``backward`` of a function whose only rule is ``backward_arrays``. The gradients depend
    on the inputs and on the gradients of the outputs in the graph, so that differentiating them
    again is an error and does not give zero.

    Args:
        function: The function.
        targets: Indexes of the inputs whose gradients are required.
        grad_outputs: Gradients w.r.t. the outputs; None where there is none.
        error_message: Text of the RuntimeError that differentiating them raises.

    Returns:
        tuple: One gradient for each target; None where the function is not differentiable.
    """
    gys = tuple([None if gy is None else gy.array for gy in grad_outputs])
    arrays = function.backward_arrays(targets, gys)
    if not config.enable_backprop:
        return tuple([None if gx is None else Variable(gx) for gx in arrays])
    found = [(i, gx) for i, gx in zip(targets, arrays, strict=True) if gx is not None]
    inputs = [stand_in(function, i, gx) for i, gx in found]
    node = OnceDifferentiableGrad(tuple([gx for _, gx in found]), error_message)
    gradients = node.apply((*inputs, *[gy for gy in grad_outputs if gy is not None]))
    variables = dict(zip([i for i, _ in found], gradients, strict=True))
    return tuple([variables.get(i) for i in targets])


def stand_in(function: FunctionNode, index: int, array: Array) -> Variable:
    """Returns a Variable with the node of an input whose array may be gone.

    Args:
        function: The function.
        index: Index of the input.
        array: Array of the shape and dtype of the input. Its values do not matter.
    """
    node = (function.inputs or ())[index]
    variable = Variable(array, requires_grad=node.requires_grad)
    variable._node = node
    return variable
