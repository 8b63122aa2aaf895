"""Gradients of given variables with respect to given variables (:func:`chainer.grad`)."""

# What the annotations promise is checked again at run time: users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.gradient_memory import GradientMemory
from chainer.core.autograd.graph_walk import Gradients, GraphWalk, Scalar, add_elsewhere, ones_like
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import using_config

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable_node import VariableNode


def grad(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    grad_inputs: Sequence[Variable | None] | None = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    enable_double_backprop: bool = False,
    loss_scale: float | None = None,
) -> list[Variable | None]:
    """Computes the gradient of output variables w.r.t. the input variables.

    Only the paths between inputs and outputs are visited, and gradients are returned instead of
    being accumulated to the variables.

    Args:
        outputs (tuple or list of Variable): Variables from which backprop starts.
        inputs (tuple or list of Variable): Variables to compute the gradients w.r.t.
        grad_outputs (tuple or list of Variable or None): Initial gradient of each output; ones
            where None.
        grad_inputs (tuple or list of Variable or None): Values the gradient of each input is added
            to (not in place).
        set_grad (bool): Whether the gradients are also stored to ``grad_var`` of the inputs.
        retain_grad (bool): Whether the gradients of all intermediate variables are stored to their
            ``grad_var``; ``set_grad`` is then ignored.
        enable_double_backprop (bool): Whether the gradients can be differentiated in turn.
        loss_scale (float): Factor the initial gradients are multiplied by.

    Returns:
        list of Variable: Gradient w.r.t. each input; None for an input the outputs do not depend
            on.

    Raises:
        TypeError: If an argument is not a tuple or a list.
        ValueError: If numbers of variables and gradients differ.

    Example:
        >>> x = chainer.Variable(np.array([2.], np.float32))
        >>> y = x ** 3
        >>> gx, = chainer.grad([y], [x], enable_double_backprop=True)
        >>> ggx, = chainer.grad([gx], [x])
        >>> gx.array, ggx.array
        (array([12.], dtype=float32), array([12.], dtype=float32))
    """
    for name, value in (("outputs", outputs), ("inputs", inputs)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{name} must be a tuple or a list, not {type(value)}.")
        for variable in cast("Sequence[Any]", value):
            if not isinstance(variable, Variable):
                raise TypeError(f"{name} must contain Variables, got {type(variable)}")
    for name, value, partner in (
        ("grad_outputs", grad_outputs, outputs),
        ("grad_inputs", grad_inputs, inputs),
    ):
        if value is None:
            continue
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{name} must be a tuple or a list or None, not {type(value)}.")
        count = len(cast("Sequence[Any]", value))
        if count != len(partner):
            raise ValueError(f"{name} has {count} elements, expected {len(partner)}")

    input_nodes = [x.node for x in inputs]
    wanted = set(input_nodes)
    allowed, functions = _paths([y.node for y in outputs], wanted)
    grads: Gradients = {}
    for i, y in enumerate(outputs):
        given = None if grad_outputs is None else grad_outputs[i]
        if given is None:
            gy = Variable(ones_like(y, loss_scale), requires_grad=False)
        else:
            given = as_variable(given)
            check_gradient(y.array, given.array, f"grad_outputs[{i}]: ")
            gy: Variable = given if loss_scale is None else given * loss_scale
        value: Any = gy if enable_double_backprop else gy.array
        previous = grads.get(y.node)
        grads[y.node] = value if previous is None else add_elsewhere(previous, value, False)

    memory = GradientMemory()
    if not enable_double_backprop:
        for gy in grads.values():
            memory.keep_off(gy)
    walk = GraphWalk(grads, enable_double_backprop, retain_grad, memory, wanted, allowed)
    with using_config("enable_backprop", enable_double_backprop):
        walk.run(functions)

        results: list[Variable | None] = []
        shared: dict[VariableNode, Variable | None] = {}
        for i, (x, node) in enumerate(zip(inputs, input_nodes, strict=True)):
            if node not in shared:
                gx = grads.get(node)
                if gx is not None and not isinstance(gx, Variable):
                    gx = Variable(numpy.asarray(gx) if isinstance(gx, Scalar) else gx)
                shared[node] = gx
            result = shared[node]
            initial = None if grad_inputs is None else grad_inputs[i]
            if initial is not None:
                initial = as_variable(initial)
                check_gradient(x.array, initial.array, f"grad_inputs[{i}]: ")
                result = initial if result is None else initial + result
            results.append(result)
            if loss_scale is not None:
                x.loss_scale = loss_scale
            if set_grad or retain_grad:
                x.grad_var = result
    return results


def _paths(
    output_nodes: list[VariableNode], wanted: set[VariableNode]
) -> tuple[set[VariableNode], list[FunctionNode]]:
    """Returns the nodes between wanted nodes and outputs, and the functions to start at."""
    functions: set[FunctionNode] = set()
    pending = [node.creator_node for node in output_nodes]
    while pending:
        function = pending.pop()
        if function is None or function in functions:
            continue
        functions.add(function)
        pending.extend(x.creator_node for x in function.inputs or ())
    allowed = set(wanted)
    useful: set[FunctionNode] = set()
    for function in sorted(functions, key=lambda f: f.rank):
        if any(x in allowed for x in function.inputs or ()):
            useful.add(function)
            for reference in function.outputs or ():
                node = reference()
                if node is not None:
                    allowed.add(node)
    start = {node.creator_node for node in output_nodes}
    return allowed, [f for f in useful if f in start]
