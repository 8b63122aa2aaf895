"""One step of backpropagation on Variables (``chainer._backprop_utils`` of release 7).

Backpropagation itself does not need it (see :mod:`chainer.core.autograd.engine`); programs that
walk graphs by themselves call it.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.autograd.array_checks import has_nan
from chainer.core.autograd.gradient_errors import gradients_of_targets
from chainer.core.registry import registries

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable import Variable
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Grads, Indexes


def backprop_step(
    func: FunctionNode,
    target_input_indexes: Indexes,
    grad_outputs: Grads,
    grad_inputs: dict[VariableNode, list[Variable]],
    is_debug: bool,
) -> None:
    """Computes the gradients of one function and adds them to the known gradients.

    Args:
        func (FunctionNode): The function.
        target_input_indexes (tuple of int): Indexes of the inputs whose gradients are computed.
        grad_outputs (tuple of Variable): Gradients of the outputs; None where there is none.
        grad_inputs (dict): Node of an input -> list of gradients, which is changed in place. Unless
            ``func.lazy_grad_sum`` is set, it has at most one element afterwards.
        is_debug (bool): Whether gradients with NaN are refused.

    Raises:
        RuntimeError: If ``is_debug`` is set and a gradient contains NaN.
        ValueError: If the number of gradients is wrong.
    """
    nodes = [func.input_nodes[i] for i in target_input_indexes]
    if func._traits.accumulates:
        # The function itself adds to the known gradients. A node that occurs twice has one list.
        known: list[Variable | None] = []
        for node in nodes:
            known.append(_reduce(grad_inputs[node]))
            grad_inputs[node].clear()
        gradients = func.backward_accumulate(target_input_indexes, grad_outputs, tuple(known))
    else:
        gradients = gradients_of_targets(
            func, target_input_indexes, func.backward(target_input_indexes, grad_outputs)
        )
    for node, gradient in zip(nodes, gradients, strict=True):
        if gradient is not None:
            if is_debug and has_nan(gradient.array):
                raise RuntimeError(f"NaN is detected on backward computation of {func.label}")
            grad_inputs[node].append(gradient)
    if not func.lazy_grad_sum:
        for node in nodes:
            _reduce(grad_inputs[node])


def _reduce(grad_list: list[Variable]) -> Variable | None:
    """Returns the sum of gradients, or None if there is none. The list then holds only the sum."""
    if not grad_list:
        return None
    if len(grad_list) > 1:
        grad_list[:] = [registries.functions.get("add")(*grad_list)]
    return grad_list[0]
