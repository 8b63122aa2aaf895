"""Backpropagation from several variables: :func:`chainer.grad` and :func:`chainer.backward`."""

# The gradient of a variable belongs to core.
# pyright: reportPrivateUsage=false

# The types in annotations are checked again at run time, because users write these arguments.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import warnings
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.autograd.accumulate import Scalar
from chainer.core.autograd.backprop import deliver_to_leaves, initial_gradient
from chainer.core.autograd.batching import LEVELS, BatchingError, is_batched
from chainer.core.autograd.collector_pacing import pacing
from chainer.core.autograd.engine import BackwardPass
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.autograd.variable_node import NO_GRADIENT
from chainer.core.config.configuration import using_config
from chainer.core.misuse import MisuseWarning

if TYPE_CHECKING:
    from chainer.core.autograd.function_node import FunctionNode
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.typing import Indexes

_ndarray = numpy.ndarray
_rank_of = attrgetter("_rank")


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
            where None. Their dtypes may differ from the dtypes of the outputs.
        grad_inputs (tuple or list of Variable or None): Initial gradient of each input. The
            gradients that reach the input are added to it (not in place), and the sum flows on to
            other inputs that the input was computed from. If the input is an output as well, this
            value replaces its initial gradient.
        set_grad (bool): Whether the gradients are also stored to ``grad_var`` of the inputs, None
            where there is no gradient.
        retain_grad (bool): Whether the gradients of inputs, outputs and intermediate variables that
            the backward pass reaches are stored to their ``grad_var``.
        enable_double_backprop (bool): Whether the gradients can be differentiated in turn.
        loss_scale (float): Factor of the initial gradients that are not given.

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

    if LEVELS.active:
        _refuse_batched([*outputs, *inputs])
    targets = {x._graph_node or x.node for x in inputs}
    given = [None] * len(outputs) if grad_outputs is None else grad_outputs
    starts: dict[VariableNode, Variable] = {}
    any_dtype = False
    for i, y in enumerate(outputs):
        gy: Any = _seed(y, given[i], i, loss_scale)
        if y.node in starts:
            # A variable that is given several times gets the sum. Release 7 forgets all but the
            # last, and the gradients of ``x + y``, which are one variable, are given like this.
            with using_config("enable_backprop", enable_double_backprop):
                gy = starts[y.node] + gy
        starts[y.node] = gy
        any_dtype = any_dtype or gy._array.dtype != y._array.dtype
    # Batched gradients have no arrays for the rules on arrays.
    any_dtype = any_dtype or bool(LEVELS.active and any(map(is_batched, starts.values())))
    roots = list(starts)
    initial = _initial_of_inputs(inputs, grad_inputs)
    # A function may have many outputs: each is handled with as few calls as possible.
    paths = _paths_between(roots, targets)
    backward_pass = BackwardPass(enable_double_backprop, retain_grad, targets, paths, any_dtype)
    for node, gradient in ({**starts, **initial} if initial else starts).items():
        backward_pass.start_with(node, gradient)
    if initial:
        backward_pass.waiting.update(initial.keys() - starts.keys())
    backward_pass.run(roots)

    # One Variable for each node, though it may be given as several inputs.
    found = {node: _gradient_of(node, backward_pass) for node in targets}
    results = [found[x._graph_node or x.node] for x in inputs]
    if grad_inputs is None:
        _warn_without_gradients(inputs, results)
    if loss_scale is not None:
        for x in inputs:
            x.loss_scale = loss_scale
    if set_grad or retain_grad:
        for x, result in zip(inputs, results, strict=True):
            if set_grad or result is not None:
                x.grad_var = result
    return results


def closed_gradients(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grad_outputs: Sequence[Variable],
    enable_double_backprop: bool,
) -> list[Variable | None]:
    """Does the work of :func:`grad` for a graph that is known to lead to the inputs only.

    Every function that requires gradients then is on a path to an input. So the walk need not find
    the paths first, which takes a tenth of the time of a small network.

    Args:
        outputs: Variables from which the walk starts.
        inputs: Variables without creator: all leaves that require gradients and lead to outputs.
        grad_outputs: The gradient of each output, of its shape and dtype.
        enable_double_backprop: Whether the gradients can be differentiated in turn.

    Returns:
        list of Variable: Gradient w.r.t. each input; None for an input that no gradient reached.
    """
    # No targets, but not None: what a program has stored as gradients does not take part.
    backward_pass = BackwardPass(enable_double_backprop, False, _NO_TARGETS)
    roots: list[VariableNode] = []
    for y, gy in zip(outputs, grad_outputs):
        node = y._graph_node or y.node
        backward_pass.start_with(node, gy)
        roots.append(node)
    backward_pass.run(roots)
    return [_gradient_of(x._graph_node or x.node, backward_pass) for x in inputs]


_NO_TARGETS: set[VariableNode] = set()


def _refuse_batched(variables: Sequence[Variable]) -> None:
    """Batched Variables have their graph elsewhere: chainer.vmap then takes one after another."""
    if any([is_batched(x) for x in variables]):
        raise BatchingError("chainer.grad was called with batched Variables")


def _warn_without_gradients(inputs: Sequence[Variable], results: list[Variable | None]) -> None:
    """Warns if there are inputs, and none has a gradient."""
    # Programs that pass all parameters expect None for some of them.
    if not inputs or any([result is not None for result in results]):
        return
    names = ", ".join([x.name or f"inputs[{i}]" for i, x in enumerate(inputs)])
    warnings.warn(
        f"all gradients are None: no differentiable function leads from {names} to the outputs",
        MisuseWarning,
        stacklevel=3,
    )


def _initial_of_inputs(
    inputs: Sequence[Variable], grad_inputs: Sequence[Variable | None] | None
) -> dict[VariableNode, Variable]:
    """Returns the nodes of the inputs for which the user gave initial gradients, with these."""
    initial: dict[VariableNode, Variable] = {}
    for i, (x, given) in enumerate(zip(inputs, grad_inputs or (), strict=False)):
        if given is not None:
            gradient = as_variable(given)
            check_gradient(x.array, gradient.array, f"grad_inputs[{i}]: ")
            initial[x.node] = gradient
    return initial


def backward(
    outputs: Sequence[Variable],
    grad_outputs: Sequence[Variable | None] | None = None,
    *,
    enable_double_backprop: bool = False,
    **options: Any,
) -> None:
    """Runs backpropagation from several variables simultaneously.

    Every function between the outputs and the roots of the graph is differentiated once, after all
    gradients of its outputs have arrived. Gradients of the roots are accumulated, as by
    :meth:`Variable.backward`.

    Args:
        outputs (tuple or list of Variable): Variables from which backprop starts.
        grad_outputs (tuple or list of Variable or None): Initial gradient of each output. Outputs
            whose element is None are left out. If None, each output starts with its ``grad_var``,
            which is cleared.
        enable_double_backprop (bool): Whether the gradients can be differentiated in turn.

    Raises:
        TypeError: If an argument is not a tuple or a list.
        ValueError: If the numbers of outputs and gradients differ, or for the options
            ``retain_grad`` and ``loss_scale`` of :meth:`Variable.backward`.

    Example:
        >>> x = chainer.Variable(np.array([1., 2.], np.float32))
        >>> y, z = x * x, 3 * x
        >>> y.grad = np.array([1., 1.], np.float32)
        >>> z.grad = np.array([1., 0.], np.float32)
        >>> chainer.backward([y, z])
        >>> x.grad
        array([5., 4.], dtype=float32)
    """
    for name in ("retain_grad", "loss_scale"):
        if name in options:
            raise ValueError(f"chainer.backward does not support the option {name}")
    if options:
        names = ", ".join(map(repr, options))
        raise TypeError(f"backward() got unexpected keyword argument(s) {names}")
    check_variables("outputs", outputs)
    check_gradients("grad_outputs", grad_outputs, len(outputs))
    backward_pass = BackwardPass(enable_double_backprop)
    roots: dict[VariableNode, None] = {}
    for i, y in enumerate(outputs):
        if grad_outputs is None:
            gy = y.grad_var
            if gy is not None and y.creator_node is None:
                continue  # a leaf keeps its gradient, to which others are added
            y.cleargrad()
            if gy is None:
                warnings.warn(
                    "outputs contains a Variable without grad, or duplicate outputs. Note that "
                    "chainer.backward does not set default grad.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        else:
            gy = grad_outputs[i]
        if gy is None:
            continue
        gy = as_variable(gy)
        roots[y.node] = None
        backward_pass.start_with(y.node, gy)
    backward_pass.run(roots)
    deliver_to_leaves(backward_pass, enable_double_backprop, None)
    for node in roots:
        pacing.restore_with(node)


def _seed(y: Variable, gy: Variable | None, index: int, loss_scale: float | None) -> Variable:
    """Returns the initial gradient of an output in :func:`grad`."""
    if gy is None:
        gradient = initial_gradient(y.array, loss_scale)
        if type(gradient) is _ndarray:
            return Variable._from_array(gradient, False)
        return Variable(gradient, requires_grad=False)
    gy = as_variable(gy)
    array, gradient = y._initialized(), gy._initialized()
    # A gradient of another dtype is accepted here. The functions that get it may refuse it.
    is_same = gradient.shape == array.shape and type(gradient) is type(array)
    if gradient.dtype == array.dtype and not is_same:
        check_gradient(array, gradient, f"grad_outputs[{index}]: ")
    return gy


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
    given = backward_pass.seeds.get(node)
    if given is not None and given._array is gradient:  # nothing was added to it
        return given
    return Variable(numpy.asarray(gradient) if isinstance(gradient, Scalar) else gradient)


def _paths_between(
    outputs: Sequence[VariableNode], targets: set[VariableNode]
) -> dict[FunctionNode, Indexes]:
    """Returns the functions to visit, with the indexes of the inputs that get gradients.

    These inputs are targets, or are computed from targets. As in earlier releases, functions are
    not visited because of a target without ``requires_grad``, but it gets gradients of those that
    are visited. The creators of outputs and targets are visited in any case: gradients of all their
    outputs may have to be retained.
    """
    paths: dict[FunctionNode, Indexes] = {}
    for node in (*outputs, *targets):
        function = node._creator_node
        if function is not None:
            paths[function] = ()
    reachable = set(targets)
    # One loop without calls: small graphs are differentiated as often as large ones, and then this
    # search took a tenth of the time.
    reached, from_outputs = _reached_nodes(outputs, targets)
    for node in reached:
        function: Any = node._creator_node
        indexes: list[int] = []
        is_needed = False
        for i, x in enumerate(function.inputs or ()):
            if x in reachable:
                indexes.append(i)
                if not x._marks & NO_GRADIENT:
                    is_needed = True
        if is_needed:
            paths[function] = tuple(indexes)
            reachable.add(node)
            # The other outputs as well, as in release 7: one of them may be unchained. Only if the
            # outputs of the program depend on the function, and not because of a target alone.
            if function in from_outputs:
                several = function._several_outputs
                reachable.update([y for r in several if (y := r()) is not None])
        elif function in paths:
            paths[function] = tuple(indexes)
    return paths


def _reached_nodes(
    outputs: Sequence[VariableNode], targets: set[VariableNode]
) -> tuple[list[VariableNode], set[FunctionNode]]:
    """Returns the nodes with creators that may depend on targets, in the order of their ranks.

    These are targets, and nodes that outputs of the program were computed from.

    Returns:
        tuple: The nodes, and the functions of several outputs that outputs of the program depend
        on.
    """
    # A node of a lower rank than all targets does not depend on them.
    lowest = min([node._rank for node in targets], default=0)
    found = [node for node in outputs if node._creator_node is not None]
    seen = set(found)
    several: set[FunctionNode] = set()
    for node in found:  # it grows
        function: Any = node._creator_node
        if function._several_outputs:  # which may be as many as its inputs
            if function in several:
                continue
            several.add(function)
        for x in function.inputs or ():
            if (
                x._rank > lowest
                and x._creator_node is not None
                and not x._marks & NO_GRADIENT
                and x not in seen
            ):
                seen.add(x)
                found.append(x)
    found.extend([y for y in targets if y._creator_node is not None and y not in seen])
    found.sort(key=_rank_of)
    return found, several


def has_other_leaves(outputs: Sequence[Variable], inputs: Sequence[Variable]) -> bool:
    """Returns whether a leaf that requires gradients leads to outputs without passing inputs.

    Args:
        outputs: The outputs.
        inputs: Variables behind which nothing is looked for.
    """
    seen = {x._graph_node or x.node for x in inputs}
    pending = [
        node
        for y in outputs
        if (node := y._graph_node or y.node) not in seen and not node._marks & NO_GRADIENT
    ]
    seen.update(pending)
    for node in pending:  # it grows
        function = node._creator_node
        if function is None:
            return True
        for x in function.inputs or ():
            if not x._marks & NO_GRADIENT and x not in seen:
                seen.add(x)
                pending.append(x)
    return False
