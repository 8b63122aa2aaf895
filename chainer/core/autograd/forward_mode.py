"""Forward mode: a walk over a finished graph that carries tangents from inputs to outputs.

The nodes of the graph still have what their gradients need. So forward mode needs no dual numbers
and no second implementation of a function: each node says with
:meth:`~chainer.FunctionNode.tangents` how its outputs change if its inputs move. The default here
follows from what the class declares, and else from the gradient.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.lookup import backend_of
from chainer.core.autograd.applied_again import applied_again
from chainer.core.autograd.batching import LEVELS
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.gradient_errors import describe, gradients_of_targets
from chainer.core.autograd.variable import Variable
from chainer.core.autograd.variable_node import NO_GRADIENT
from chainer.core.config.configuration import config, threads, using_config

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Grads, Indexes, Variables


def push_forward(
    outputs: Sequence[Variable],
    tangents: Mapping[VariableNode, Variable],
    create_graph: bool | None = None,
) -> list[Variable | None]:
    """Computes the tangents of Variables from the tangents of Variables they were computed from.

    Args:
        outputs: The results of the computation.
        tangents: The tangent of the node of each input that moves.
        create_graph: Whether the computation is recorded, so that tangents can be differentiated;
            by default as the configuration says.

    Returns:
        list of Variable: The tangent of each output; None for an output that does not move.

    Raises:
        ValueError: If a function returns a wrong number of tangents, or wrong shapes.
    """
    known: dict[VariableNode, Variable | None] = dict(tangents)
    functions = _functions_from(tangents, outputs)
    # As BackwardPass.run() does it: a context manager took a tenth of the time of a small network.
    state = threads.state
    values = state.values
    was_set = "enable_backprop" in values
    previous = state.enable_backprop
    if create_graph is None:
        create_graph = previous
    try:
        values["enable_backprop"] = state.enable_backprop = create_graph
        for function, node in functions:
            _push_through(function, node, known, tangents)
    finally:
        state.enable_backprop = previous
        if was_set:
            values["enable_backprop"] = previous
        elif "enable_backprop" in values:
            del values["enable_backprop"]
    return [known.get(y._graph_node or y.node) for y in outputs]


def _push_through(
    function: FunctionNode,
    node: VariableNode,
    known: dict[VariableNode, Variable | None],
    tangents: Mapping[VariableNode, Variable],
) -> None:
    """Adds the tangents of the outputs of a function to the known ones.

    Args:
        function: The function.
        node: An output of it.
        known: Tangents of nodes that were reached.
        tangents: Tangents that were given.
    """
    moving: list[int] = []
    given: list[Variable] = []
    for i, x in enumerate(function.inputs or ()):
        tangent = known.get(x)
        if tangent is not None:
            moving.append(i)
            given.append(tangent)
    if not given:
        return
    if function._output is None and function._output_variable is not None:
        function._output = weakref.ref(node)  # as _know_output(), without the call
    found = function.tangents(tuple(moving), tuple(given))
    several = function._several_outputs
    if not several and len(found) == 1 and node not in tangents:
        (tangent,) = found
        if tangent is not None:
            array = tangent._array
            if array is None or (array.dtype, array.shape) != node._type:
                _check_tangent(function, 0, node, tangent)
            known[node] = tangent
        return
    nodes = [reference() for reference in several] if several else [node]
    if len(found) != len(nodes):
        raise ValueError(
            f"tangents of {function.label} ({type(function).__name__}) must return "
            f"{len(nodes)} tangents, got {len(found)}\n{describe(function)}"
        )
    for i, (output, tangent) in enumerate(zip(nodes, found)):
        # A Variable whose tangent was given is an input, whatever it was computed from.
        if output is None or tangent is None or output in tangents:
            continue
        _check_tangent(function, i, output, tangent)
        known[output] = tangent


def _functions_from(
    inputs: Mapping[VariableNode, Any], outputs: Sequence[Variable]
) -> list[tuple[FunctionNode, VariableNode]]:
    """Returns the functions that may lead from inputs to outputs, in the order of their ranks.

    Each comes with an output where it was reached.
    """
    lowest = min([node._rank for node in inputs])
    functions: dict[FunctionNode, VariableNode] = {}
    pending = [y._graph_node or y.node for y in outputs]
    for node in pending:  # it grows
        # A function has a higher rank than all it depends on, so the rest cannot reach the inputs.
        if node._rank <= lowest or node._marks & NO_GRADIENT:
            continue
        function = node._creator_node
        if function is not None and function not in functions:
            functions[function] = node
            for x in function.inputs or ():
                if x._rank > lowest:  # most others are constants
                    pending.append(x)
    found = list(functions.items())
    found.reverse()  # nearly in order
    found.sort(key=_rank_of_output)
    return found


def _rank_of_output(item: tuple[FunctionNode, VariableNode]) -> int:
    return item[1]._rank


def _check_tangent(
    function: FunctionNode, index: int, node: VariableNode, tangent: Variable
) -> None:
    array = tangent._array
    if array is not None and (array.dtype, array.shape) == node._type:
        return
    check_gradient(
        node,
        array,
        f"tangent of output {index} of {function.label} ({type(function).__name__}) is wrong\n"
        f"{describe(function)}\n",
    )


def tangents_of(function: FunctionNode, moving: Indexes, tangents: Variables) -> Grads:
    """The default of :meth:`FunctionNode.tangents`.

    Args:
        function: The function, which was applied.
        moving: Indexes of the inputs that have tangents.
        tangents: These tangents.
    """
    if (function.is_elementwise or function.is_pointwise) and _has_one_type(function):
        return _of_elementwise(function, moving, tangents)
    if function.is_linear:
        return _of_linear(function, moving, tangents)
    if function.is_multilinear:
        inputs = _inputs_of(function)
        if inputs is not None:
            return product_rule(lambda *xs: applied_again(function, xs), inputs, moving, tangents)
    return by_double_backward(function, moving, tangents)


def _has_one_type(function: FunctionNode) -> bool:
    """Returns whether all inputs and outputs have one shape and dtype."""
    nodes = function.inputs or function.input_nodes
    first = nodes[0]._type
    for x in nodes:
        if x._type != first:
            return False
    if function._output is not None:  # which the walk has come from
        y = function._output()
        return y is None or y._type == first
    for reference in function.outputs or ():
        y = reference()
        if y is not None and y._type != first:
            return False
    return True


def _of_elementwise(function: FunctionNode, moving: Indexes, tangents: Variables) -> Grads:
    """The Jacobian of each pair of input and output is diagonal, so it is its own transpose."""
    count = len(function._several_outputs) or len(function.outputs or ())
    state = threads.state
    if count == 1 and not (state.enable_backprop or LEVELS.active or state.hooks):
        found = _of_elementwise_arrays(function, moving, tangents)
        if found is not None:
            return found
    sums: list[Variable | None] = [None] * count
    for i, tangent in zip(moving, tangents, strict=True):
        for j in range(count):
            if (function.outputs or ())[j]() is None:
                continue
            seeds = tuple([tangent if k == j else None for k in range(count)])
            (part,) = _gradients(function, (i,), seeds)
            sums[j] = sum_of(sums[j], part)
    return tuple(sums)


def _of_elementwise_arrays(
    function: FunctionNode, moving: Indexes, tangents: Variables
) -> Grads | None:
    """Does the work of :func:`_of_elementwise` by the rule on NumPy arrays; None if there is none.

    Args:
        function: The function, which has one output.
        moving: Indexes of the inputs that have tangents.
        tangents: These tangents.
    """
    if not function._has_direct_rule:
        return None
    from_array = Variable._from_array
    total: Variable | None = None
    for i, tangent in zip(moving, tangents, strict=True):
        array = tangent._array
        if type(array) is not numpy.ndarray:
            return None
        (part,) = function.backward_arrays((i,), (array,))
        if part is not None:
            # Operators of NumPy return numbers in place of arrays without axes.
            total = sum_of(total, from_array(numpy.asarray(part), False))
    return (total,)


def _of_linear(function: FunctionNode, moving: Indexes, tangents: Variables) -> Grads:
    nodes = function.input_nodes
    inputs: list[Any] = [None] * len(nodes)
    for i, tangent in zip(moving, tangents, strict=True):
        inputs[i] = tangent
    xp = backend_of(tangents[0].array).xp
    for i, node in enumerate(nodes):
        if inputs[i] is None:
            inputs[i] = Variable(xp.zeros(node.shape, node.dtype), requires_grad=False)
    return applied_again(function, inputs)


def _inputs_of(function: FunctionNode) -> Variables | None:
    """Returns all inputs of a function; None if it did not retain each of them."""
    if function._retained_inputs != tuple(range(len(function.input_nodes))):
        return None
    return function.get_retained_inputs()


def product_rule(
    compute: Callable[..., Grads],
    inputs: Sequence[Variable],
    moving: Indexes,
    tangents: Variables,
) -> Grads:
    """Returns the tangents of a function that is linear in each of its inputs.

    Args:
        compute: Returns the outputs for given inputs.
        inputs: The inputs.
        moving: Indexes of the inputs that have tangents.
        tangents: These tangents.
    """
    sums: Grads = ()
    for i, tangent in zip(moving, tangents, strict=True):
        replaced = [tangent if k == i else x for k, x in enumerate(inputs)]
        parts = compute(*replaced)
        sums = tuple([sum_of(s, p) for s, p in zip(sums, parts)]) if sums else parts
    return sums


def sum_of(first: Variable | None, second: Variable | None) -> Variable | None:
    """Returns the sum of two tangents or gradients, of which None is zero."""
    if first is None or second is None:
        return second if first is None else first
    return first + second


def by_double_backward(function: FunctionNode, moving: Indexes, tangents: Variables) -> Grads:
    """Returns tangents from the gradient: it is linear in the gradients of the outputs.

    The derivative of the gradient by these, in the direction of the tangents, is the product of
    the Jacobian and the tangents. It does not depend on the values of the output gradients.

    Args:
        function: The function, which was applied.
        moving: Indexes of the inputs that have tangents.
        tangents: These tangents.

    Raises:
        RuntimeError: If the gradient of the function cannot be differentiated.
    """
    from chainer.core.autograd.grad import grad  # it imports the engine, which is above this module

    # Batched tangents have no arrays for the faster rules that need no graph.
    is_differentiable = config.enable_backprop or bool(LEVELS.active)
    with using_config("enable_backprop", True):
        seeds = [_seed_of(function, reference()) for reference in function.outputs or ()]
        gradients = _gradients(function, moving, tuple(seeds))
    pairs = [
        (gx, tangent)
        for gx, tangent in zip(gradients, tangents, strict=True)
        if gx is not None and gx.requires_grad
    ]
    live = [seed for seed in seeds if seed is not None]
    if not pairs or not live:
        return (None,) * len(seeds)
    none = [None] * len(live)  # grad() warns of zeros unless it gets a list
    try:
        products = grad(
            [gx for gx, _ in pairs],
            live,
            [tangent for _, tangent in pairs],
            none,
            enable_double_backprop=is_differentiable,
        )
    except NotImplementedError as error:
        error.add_note(
            f"Forward mode differentiates the gradient of {function.label} "
            f"({type(function).__name__}), which defines no tangents()."
        )
        raise
    found = iter(products)
    return tuple([None if seed is None else next(found) for seed in seeds])


def _gradients(function: FunctionNode, targets: Indexes, gys: Grads) -> Grads:
    """Calls the rule of a function on Variables."""
    traits = function._traits
    if not traits.has_variable_rule:
        raise RuntimeError(
            f"forward mode cannot pass {function.label}: {type(function).__name__} defines "
            "backward_arrays(), but neither backward() nor tangents()"
        )
    if traits.accumulates:
        return function.backward_accumulate(targets, gys, (None,) * len(targets))
    return gradients_of_targets(function, targets, function.backward(targets, gys))


def _seed_of(function: FunctionNode, node: VariableNode | None) -> Variable | None:
    """Returns a gradient of zeros for an output; None if there can be none."""
    if node is None or node.dtype.kind not in "fcV":
        return None
    # The arrays of the function are where its output was.
    seed = Variable(function.xp.zeros(node.shape, node.dtype))
    # As if it were an output of the function: then a walk from the gradients to this seed does not
    # go on to what the function was computed from.
    seed.node._rank = function.rank + 1
    return seed
