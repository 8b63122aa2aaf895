"""Forward mode: a walk over a finished graph that carries tangents from inputs to outputs.

The nodes of the graph still have what their gradients need. So forward mode needs no dual numbers
and no second implementation of a function: each node says with
:meth:`~chainer.FunctionNode.tangents` how its outputs change if its inputs move. The default here
follows from what the class declares, and else from the gradient.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.lookup import backend_of
from chainer.core.autograd.applied_again import applied_again
from chainer.core.autograd.batching import LEVELS
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.gradient_errors import describe, gradients_of_targets
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, using_config

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Grads, Indexes, Variables


def push_forward(
    outputs: Sequence[Variable], tangents: Mapping[VariableNode, Variable]
) -> list[Variable | None]:
    """Computes the tangents of Variables from the tangents of Variables they were computed from.

    Args:
        outputs: The results of the computation.
        tangents: The tangent of the node of each input that moves.

    Returns:
        list of Variable: The tangent of each output; None for an output that does not move.

    Raises:
        ValueError: If a function returns a wrong number of tangents, or wrong shapes.
    """
    known: dict[VariableNode, Variable | None] = dict(tangents)
    for function in _functions_from(tangents, outputs):
        inputs = function.input_nodes
        given = [(i, t) for i, x in enumerate(inputs) if (t := known.get(x)) is not None]
        if not given:
            continue
        moving = tuple([i for i, _ in given])
        found = function.tangents(moving, tuple([t for _, t in given]))
        references = function.outputs or ()
        if len(found) != len(references):
            raise ValueError(
                f"tangents of {function.label} ({type(function).__name__}) must return "
                f"{len(references)} tangents, got {len(found)}\n{describe(function)}"
            )
        for i, (reference, tangent) in enumerate(zip(references, found)):
            node = reference()
            # A Variable whose tangent was given is an input, whatever it was computed from.
            if node is None or tangent is None or node in tangents:
                continue
            _check_tangent(function, i, node, tangent)
            known[node] = tangent
    return [known.get(y.node) for y in outputs]


def _functions_from(
    inputs: Mapping[VariableNode, Any], outputs: Sequence[Variable]
) -> list[FunctionNode]:
    """Returns the functions that may lead from inputs to outputs, in the order of their ranks."""
    lowest = min([node._rank for node in inputs])
    functions: set[FunctionNode] = set()
    pending = [y.node for y in outputs]
    while pending:
        node = pending.pop()
        # A function has a higher rank than all it depends on, so the rest cannot reach the inputs.
        if node._rank <= lowest or not node.requires_grad:
            continue
        function = node.creator_node
        if function is not None and function not in functions:
            functions.add(function)
            pending.extend(function.inputs or ())
    return sorted(functions, key=lambda f: f.rank)


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
    types = [x._type for x in function.input_nodes]
    types.extend([y._type for r in function.outputs or () if (y := r()) is not None])
    first = types[0]
    return all([each == first for each in types])


def _of_elementwise(function: FunctionNode, moving: Indexes, tangents: Variables) -> Grads:
    """The Jacobian of each pair of input and output is diagonal, so it is its own transpose."""
    count = len(function.outputs or ())
    sums: list[Variable | None] = [None] * count
    for i, tangent in zip(moving, tangents, strict=True):
        for j in range(count):
            if (function.outputs or ())[j]() is None:
                continue
            seeds = tuple([tangent if k == j else None for k in range(count)])
            (part,) = _gradients(function, (i,), seeds)
            sums[j] = sum_of(sums[j], part)
    return tuple(sums)


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
