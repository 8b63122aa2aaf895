"""Backpropagation: walking the graph backwards and accumulating gradients.

The walk visits function nodes by descending rank, so that all gradients that reach a node have
arrived when it is visited. Gradients are raw arrays as long as nobody wants to differentiate them;
then a function node that defines ``backward_arrays`` is never bothered with Variables. With
``enable_double_backprop`` they are Variables and the computation is recorded.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

# What the annotations promise is checked again at run time: users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from heapq import heappop, heappush, heappushpop
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.autograd.function_node import FunctionNode, is_current
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.gradient_memory import GradientMemory
from chainer.core.autograd.graph_walk import (
    Gradients,
    GraphWalk,
    Scalar,
    add_elsewhere,
    as_taken,
    check_input_gradient,
    clear_outputs,
    ones_like,
    take_gradient,
)
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, threads, using_config

if TYPE_CHECKING:
    from chainer.core.autograd.variable_node import VariableNode

_ndarray = numpy.ndarray


def backward(
    root: Variable,
    retain_grad: bool,
    enable_double_backprop: bool,
    loss_scale: float | None,
) -> None:
    """Implements :meth:`chainer.Variable.backward`."""
    creator = root.creator_node
    if creator is None:
        if config.debug:
            raise RuntimeError(
                f"backward() from {root.summary()} cannot reach anything: it was not created by a "
                "function, was unchained, or was computed in no_backprop_mode()"
            )
        return
    node = root.node
    if root.grad is None:
        if root.size != 1:
            raise ValueError(
                f"backward() from a variable of shape {root.shape} needs an initial gradient: set "
                "its 'grad' to an array of the same shape, or reduce it to one element first"
            )
        root.grad = ones_like(root, loss_scale)
    grads: Gradients = {node: root.grad_var if enable_double_backprop else root.grad}
    state = threads.state
    memory = GradientMemory()
    memory.keep_off(root.grad)
    with using_config("enable_backprop", enable_double_backprop):
        if enable_double_backprop or retain_grad or state.hooks or state.debug:
            GraphWalk(grads, enable_double_backprop, retain_grad, memory).run([creator])
        else:
            _run_on_arrays(creator, grads, node, memory)
    if config.debug and len(grads) == 0:
        raise RuntimeError(
            f"backward() from {root.summary()} reached no variable: "
            f"{creator.label} or a function before it is not differentiable"
        )
    _deliver(grads, enable_double_backprop, loss_scale, memory)


def _deliver(
    grads: Gradients, double: bool, loss_scale: float | None, memory: GradientMemory
) -> None:
    """Adds the gradients that reached the roots of the graph to their variables."""
    for node, grad in grads.items():
        variable = node.get_variable_or_none()
        if variable is None:
            continue
        if loss_scale is not None:
            variable.loss_scale = loss_scale
        if double:
            previous = variable.grad_var
            variable.grad_var = grad if previous is None else previous + grad
            continue
        previous = variable.grad
        if previous is not None:
            plain = grad.__class__ is _ndarray
            grad = previous + grad if plain else add_elsewhere(previous, grad, False)
        if isinstance(grad, Scalar):
            grad = numpy.asarray(grad)
        if grad.__class__ is not _ndarray and variable._array.__class__ is _ndarray:
            grad = backend_of(grad).to_xp(grad)  # kernels may compute gradients of other types
        elif grad.__class__ is _ndarray and variable._array.__class__ is not _ndarray:
            check_gradient(variable._array, grad, "A function computed a gradient elsewhere. ")
        variable._grad = memory.claim(variable, grad) if previous is None else grad
        variable._grad_var = None


def _run_on_arrays(
    start: FunctionNode, grads: Gradients, root: VariableNode, memory: GradientMemory
) -> None:
    """The common walk: gradients are arrays, nobody looks on, no intermediate gradient is kept.

    Does what :class:`GraphWalk` does in this case, in fewer steps: this loop is what a training
    step of a network of small layers spends its time in.
    """
    heap: list[tuple[int, int, FunctionNode]] = []
    seen: set[FunctionNode] = {start}
    owned: set[VariableNode] = set()
    pop, get = grads.pop, grads.get
    order = 0
    function: FunctionNode | None = start
    while function is not None:
        following: FunctionNode | None = None
        inputs = function.inputs
        outputs = function.outputs
        targets = function._targets
        if inputs is not None and outputs is not None and targets:  # else unchained or constant
            if len(outputs) == 1:
                node = outputs[0]()
                gy = None if node is None else pop(node, None)
                if gy.__class__ is not _ndarray and gy is not None:
                    gy = as_taken(function, gy)
                gys = (gy,)
                some = gy is not None
            else:
                gys = tuple(
                    [take_gradient(pop, function, reference(), memory) for reference in outputs]
                )
                some = any([gy is not None for gy in gys])
            if function._output_has_grad:
                clear_outputs(outputs, root)
            if some:
                if (function._gradients_on_arrays and not function._hooks) or _is_ready(function):
                    gxs = function.backward_arrays(targets, gys)
                else:
                    gxs = _differentiate_other(function, targets, gys, grads, owned, memory)
                if len(gxs) != len(targets):
                    gxs = function._complete(targets, gxs)
                for i, gx in zip(targets, gxs):
                    if gx is None:
                        continue
                    x = inputs[i]
                    if (gx.dtype, gx.shape) != x._type:
                        check_input_gradient(function, i, gx)
                    previous = get(x)
                    if previous is None:
                        grads[x] = gx
                        creator = x._creator_node
                        if creator is None:
                            continue
                        if len(creator.outputs or ()) > 1:
                            if creator in seen:
                                continue
                            seen.add(creator)
                        if following is None:
                            following = creator
                        else:
                            heappush(heap, (-creator.rank, order, creator))
                            order += 1
                    elif gx.__class__ is not _ndarray:
                        grads[x] = total = add_elsewhere(previous, gx, x in owned)
                        if not isinstance(total, Scalar):
                            owned.add(x)
                        gxs = gx = previous = total = None
                    elif x in owned:
                        previous += gx
                        grads[x] = previous
                        gxs = gx = None  # what was added up is not needed
                    else:
                        grads[x] = total = previous + gx
                        if total.__class__ is _ndarray or not isinstance(total, Scalar):
                            owned.add(x)
                        gxs = gx = previous = total = None
        # A chain never touches the heap.
        if heap:
            if following is None:
                function = heappop(heap)[2]
            else:
                function = heappushpop(heap, (-following.rank, order, following))[2]
                order += 1
        else:
            function = following


def _is_ready(function: FunctionNode) -> bool:
    """Tells whether an accelerator's function has a rule on arrays, and its device is current."""
    device = function._device
    return (
        device is not None
        and type(function)._gradients_on_arrays
        and not function._hooks
        and is_current(device)
    )


def _differentiate_other(
    function: FunctionNode,
    targets: tuple[int, ...],
    gys: tuple[Any, ...],
    grads: Gradients,
    owned: set[VariableNode],
    memory: GradientMemory,
) -> tuple[Any, ...]:
    """Gradients of a function with hooks, of an accelerator, or whose rule works on Variables."""
    walk = GraphWalk(grads, False, False, memory)
    walk._owned = owned
    return walk._differentiate(function, targets, gys, threads.state)
