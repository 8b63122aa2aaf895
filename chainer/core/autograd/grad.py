"""Gradients of given variables with respect to given variables (:func:`chainer.grad`)."""

# The gradient of a variable belongs to core.
# pyright: reportPrivateUsage=false

# What the annotations promise is checked again at run time: users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.autograd.accumulate import Scalar
from chainer.core.autograd.backprop import initial_gradient
from chainer.core.autograd.engine import BackwardPass
from chainer.core.autograd.gradient_arrays import check_gradient
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
    check_variables("outputs", outputs)
    check_variables("inputs", inputs)
    check_gradients("grad_outputs", grad_outputs, len(outputs))
    check_gradients("grad_inputs", grad_inputs, len(inputs))

    targets = {x.node for x in inputs}
    reachable = _nodes_between([y.node for y in outputs], targets)
    backward_pass = BackwardPass(enable_double_backprop, retain_grad, targets, reachable)
    given = [None] * len(outputs) if grad_outputs is None else grad_outputs
    for i, (y, gy) in enumerate(zip(outputs, given, strict=True)):
        if gy is None:
            gy = Variable(initial_gradient(y.array, loss_scale), requires_grad=False)
        else:
            gy = as_variable(gy)
            check_gradient(y.array, gy.array, f"grad_outputs[{i}]: ")
            if loss_scale is not None:
                gy = gy * loss_scale
        if not backward_pass.on_variables:
            backward_pass.delivery.mark_borrowed(gy.array)
        backward_pass.sums.add(y.node, gy if backward_pass.on_variables else gy.array)
    # One node once, though it may be given as several outputs.
    backward_pass.run(dict.fromkeys(y.node for y in outputs if y.node in reachable))

    with using_config("enable_backprop", enable_double_backprop):
        found = {node: _gradient_of(node, backward_pass) for node in targets}
        results = [found[x.node] for x in inputs]
        for i, x in enumerate(inputs):
            initial = None if grad_inputs is None else grad_inputs[i]
            if initial is not None:
                initial = as_variable(initial)
                check_gradient(x.array, initial.array, f"grad_inputs[{i}]: ")
                result = results[i]
                results[i] = initial if result is None else initial + result
            if loss_scale is not None:
                x.loss_scale = loss_scale
            if set_grad or retain_grad:
                x.grad_var = results[i]
    return results


def check_variables(name: str, value: object) -> None:
    """Raises TypeError unless an argument is a tuple or a list of Variables."""
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name} must be a tuple or a list, not {type(value)}.")
    for variable in cast("Sequence[Any]", value):
        if not isinstance(variable, Variable):
            raise TypeError(f"{name} must contain Variables, got {type(variable)}")


def check_gradients(name: str, value: object, count: int) -> None:
    """Raises unless an argument is None or a tuple or a list with the right number of elements."""
    if value is None:
        return
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name} must be a tuple or a list or None, not {type(value)}.")
    actual = len(cast("Sequence[Any]", value))
    if actual != count:
        raise ValueError(f"{name} has {actual} elements, expected {count}")


def _gradient_of(node: VariableNode, backward_pass: BackwardPass) -> Variable | None:
    """Returns the gradient of a target after the backward pass."""
    gradient = backward_pass.sums.get(node)
    if gradient is None or isinstance(gradient, Variable):
        return gradient
    return Variable(numpy.asarray(gradient) if isinstance(gradient, Scalar) else gradient)


def _nodes_between(
    outputs: Sequence[VariableNode], targets: set[VariableNode]
) -> set[VariableNode]:
    """Returns the nodes on the paths from the targets to the outputs, and the targets."""
    functions: set[FunctionNode] = set()
    pending = [node.creator_node for node in outputs]
    while pending:
        function = pending.pop()
        if function is None or function in functions:
            continue
        functions.add(function)
        pending.extend(x.creator_node for x in function.inputs or ())
    reachable = set(targets)
    for function in sorted(functions, key=lambda f: f.rank):
        if any(x in reachable for x in function.inputs or ()):
            for reference in function.outputs or ():
                node = reference()
                if node is not None:
                    reachable.add(node)
    return reachable
