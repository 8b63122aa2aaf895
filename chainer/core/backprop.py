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

from collections.abc import Sequence
from heapq import heappop, heappush, heappushpop
from typing import TYPE_CHECKING, Any, cast

import numpy

from chainer.core.backend import backend_of
from chainer.core.configuration import config, threads, using_config
from chainer.core.function_node import FunctionNode, has_nan
from chainer.core.variable import Variable, as_variable, check_gradient

if TYPE_CHECKING:
    from chainer.core.configuration import ThreadState
    from chainer.core.variable_node import VariableNode

_ndarray = numpy.ndarray
# As Any: to the checker what is an instance of numpy.generic is "partially unknown".
_Scalar: Any = numpy.generic
_Grads = dict["VariableNode", Any]


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
        root.grad = _ones(root, loss_scale)
    grads: _Grads = {node: root.grad_var if enable_double_backprop else root.grad}
    state = threads.state
    kept: set[int] = set()
    with using_config("enable_backprop", enable_double_backprop):
        if enable_double_backprop or retain_grad or state.hooks or state.debug:
            walk = _Walk(grads, enable_double_backprop, retain_grad, None)
            walk.run([creator])
            kept = walk.kept
        else:
            _run_on_arrays(creator, grads, node)
    if config.debug and len(grads) == 0:
        raise RuntimeError(
            f"backward() from {root.summary()} reached no variable: "
            f"{creator.label} or a function before it is not differentiable"
        )
    _deliver(root, grads, enable_double_backprop, loss_scale, kept)


def _ones(variable: Variable, loss_scale: float | None) -> Any:
    array = variable.array
    backend = backend_of(array)
    with backend.use(backend.device_of(array)):
        return backend.xp.full_like(array, 1 if loss_scale is None else loss_scale)


def _deliver(
    root: Variable, grads: _Grads, double: bool, loss_scale: float | None, kept: set[int]
) -> None:
    """Adds the gradients that reached the roots of the graph to their variables."""
    taken = kept
    taken.add(_owner(root.grad))
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
            grad = previous + grad
        if isinstance(grad, _Scalar):
            grad = numpy.asarray(grad)
        if grad.__class__ is not _ndarray and variable._array.__class__ is _ndarray:
            grad = backend_of(grad).plain(grad)  # kernels may compute gradients of other types
        if previous is None:
            # Rules may hand out the array they were given, or a view of it; nobody wants two
            # variables to share a gradient that an optimizer hook then changes in place.
            owner = _owner(grad)
            if owner in taken or not _writable(grad):
                # In the order of its memory: a transposed view is copied as fast as any array.
                grad = grad.copy("K") if grad.__class__ is _ndarray else grad.copy()
            else:
                taken.add(owner)
        variable._grad = grad
        variable._grad_var = None


def _owner(array: Any) -> int:
    base = getattr(array, "base", None)
    while base is not None:
        array = base
        base = getattr(array, "base", None)
    return id(array)


def _writable(array: Any) -> bool:
    flags = getattr(array, "flags", None)
    return getattr(flags, "writeable", True)


def _run_on_arrays(start: FunctionNode, grads: _Grads, root: VariableNode) -> None:
    """The common walk: gradients are arrays, nobody looks on, no intermediate gradient is kept.

    Does what :class:`_Walk` does in this case, in fewer steps: this loop is what a training step of
    a network of small layers spends its time in.
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
                    gy = _as_taken(function, gy)
                gys = (gy,)
                some = gy is not None
            else:
                given = function._output_has_grad
                gys = tuple([_take(pop, function, reference(), given) for reference in outputs])
                some = any([gy is not None for gy in gys])
            if function._output_has_grad:
                _clear_outputs(outputs, root)
            if some:
                if function._gradients_on_arrays and not function._hooks:
                    gxs = function.backward_arrays(targets, gys)
                else:
                    gxs = _differentiate_other(function, targets, gys, grads, owned)
                if len(gxs) != len(targets):
                    gxs = function._complete(targets, gxs)
                for i, gx in zip(targets, gxs):
                    if gx is None:
                        continue
                    x = inputs[i]
                    if (gx.dtype, gx.shape) != x._type:
                        _check(function, i, gx)
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
                    elif x in owned:
                        previous += gx
                        grads[x] = previous
                    else:
                        grads[x] = total = previous + gx
                        if total.__class__ is _ndarray or not isinstance(total, _Scalar):
                            owned.add(x)
        # A chain never touches the heap.
        if heap:
            if following is None:
                function = heappop(heap)[2]
            else:
                function = heappushpop(heap, (-following.rank, order, following))[2]
                order += 1
        else:
            function = following


def _differentiate_other(
    function: FunctionNode,
    targets: tuple[int, ...],
    gys: tuple[Any, ...],
    grads: _Grads,
    owned: set[VariableNode],
) -> tuple[Any, ...]:
    """Gradients of a function with hooks, of an accelerator, or whose rule works on Variables."""
    walk = _Walk(grads, False, False, None)
    walk._owned = owned
    return walk._differentiate(function, targets, gys, threads.state)


def _as_taken(function: FunctionNode, gy: Any) -> Any:
    """Returns a gradient that is no NumPy array as a rule for arrays takes it."""
    if isinstance(gy, _Scalar):
        return numpy.asarray(gy)
    if function._plain_inputs:
        return backend_of(gy).plain(gy)
    return gy


def _take(pop: Any, function: FunctionNode, node: VariableNode | None, given: bool) -> Any:
    """Takes the gradient of one of several outputs; else the one somebody gave the variable."""
    if node is None:
        return None
    gy = pop(node, None)
    if gy is None and given:
        variable = node.get_variable_or_none()
        gy = None if variable is None else variable.grad
    if gy.__class__ is _ndarray or gy is None:
        return gy
    return _as_taken(function, gy)


def _clear_outputs(outputs: Any, root: VariableNode) -> None:
    """Clears stale gradients of intermediate variables."""
    for reference in outputs:
        node = reference()
        if node is not None and node is not root:
            variable = node.get_variable_or_none()
            if variable is not None:
                variable.cleargrad()


def _check(function: FunctionNode, index: int, array: Any) -> None:
    """Raises unless an array can be the gradient of an input of a function."""
    x = (function.inputs or ())[index]
    if x.shape is not None:
        check_gradient(
            x, array, f"gradient {index} returned by backward of {function.label} is wrong. "
        )


class _Walk:
    """One walk over the graph, from given function nodes backwards.

    Args:
        grads: Gradient of each node reached so far; afterwards those of the nodes nobody created
            and those in ``wanted``.
        double: Whether gradients are Variables whose computation is recorded.
        retain_grad: Whether intermediate gradients are stored to the variables.
        wanted: Nodes whose gradients are to be kept although a function created them, or None.
        allowed: Nodes worth visiting, or None for all.
    """

    def __init__(
        self,
        grads: _Grads,
        double: bool,
        retain_grad: bool,
        wanted: set[VariableNode] | None,
        allowed: set[VariableNode] | None = None,
    ) -> None:
        self.grads = grads
        self.double = double
        self.retain_grad = retain_grad
        self.wanted = wanted
        self.allowed = allowed
        self.kept: set[int] = set()
        self._start = set(grads)
        # Nodes whose gradient array was made by an addition here, so that nobody else refers to it.
        self._owned: set[VariableNode] = set()

    def run(self, functions: Sequence[FunctionNode]) -> None:
        """Visits the functions and everything before them."""
        grads, allowed = self.grads, self.allowed
        double = self.double
        state = threads.state
        lazy = state.lazy_grad_sum
        heap: list[tuple[int, int, FunctionNode]] = []
        seen: set[FunctionNode] = set()
        owned = self._owned
        order = 0
        for function in functions:
            if function not in seen:
                seen.add(function)
                heappush(heap, (-function.rank, order, function))
                order += 1

        while heap:
            function = heappop(heap)[2]
            inputs = function.inputs
            if inputs is None or function.outputs is None:  # unchained meanwhile
                continue
            gys = self._collect(function)
            if gys is None:
                continue
            targets = function._targets
            if allowed is not None:
                targets = tuple([i for i in targets if inputs[i] in allowed])
            if not targets:
                continue
            gxs = self._differentiate(function, targets, gys, state)

            if double and (lazy or function.lazy_grad_sum):
                for i, gx in zip(targets, gxs, strict=True):
                    if gx is None:
                        continue
                    x = inputs[i]
                    _check(function, i, gx.array)
                    previous = grads.get(x)
                    if previous is None:
                        grads[x] = gx
                    elif previous.__class__ is list:
                        previous.append(gx)
                    else:
                        grads[x] = [previous, gx]
            else:
                for i, gx in zip(targets, gxs, strict=True):
                    if gx is None:
                        continue
                    x = inputs[i]
                    if double:
                        _check(function, i, gx.array)
                    elif (gx.dtype, gx.shape) != x._type:
                        _check(function, i, gx)
                    previous = grads.get(x)
                    if previous is None:
                        grads[x] = gx
                    elif double:
                        if previous.__class__ is list:
                            previous.append(gx)
                        else:
                            grads[x] = previous + gx
                    elif x in owned:
                        previous += gx
                        grads[x] = previous
                    else:
                        total = previous + gx
                        if total.__class__ is _ndarray or not isinstance(total, _Scalar):
                            owned.add(x)
                        grads[x] = total
            for i in targets:
                creator = inputs[i]._creator_node
                if creator is not None and creator not in seen and inputs[i] in grads:
                    seen.add(creator)
                    heappush(heap, (-creator.rank, order, creator))
                    order += 1
        if double:
            for x, gx in grads.items():
                if gx.__class__ is list:
                    grads[x] = _sum(gx)

    def _collect(self, function: FunctionNode) -> tuple[Any, ...] | None:
        """Takes the gradients of the outputs of a function; None if there is none at all."""
        grads, wanted = self.grads, self.wanted
        found = False
        gys: list[Any] = []
        for reference in function.outputs:  # type: ignore[union-attr]
            node = reference()
            gy = None
            if node is not None:
                if wanted is not None and node in wanted:
                    gy = grads.get(node)
                    self._owned.discard(node)
                else:
                    gy = grads.pop(node, None)
                if gy is not None:
                    found = True
                    if gy.__class__ is list:
                        gy = _sum(gy)
                        if wanted is not None and node in wanted:
                            grads[node] = gy
                    elif gy.__class__ is not _ndarray and not self.double:
                        gy = _as_taken(function, gy)
                variable = node._variable() if node._variable is not None else None  # pyright: ignore
                if gy is None and variable is not None and self._counts_given(function):
                    gy = variable.grad_var if self.double else variable.grad
                    found = found or gy is not None
                if variable is not None and node not in self._start:
                    if self.retain_grad:
                        if gy is not None:
                            self._store(variable, gy)
                    elif self.wanted is None and function._output_has_grad:
                        variable.cleargrad()
            gys.append(gy)
        return tuple(gys) if found else None

    def _counts_given(self, function: FunctionNode) -> bool:
        """Tells whether outputs no gradient reached may bring the one somebody gave them."""
        return self.wanted is None and function._output_has_grad and len(function.outputs or ()) > 1

    def _store(self, variable: Variable, gy: Any) -> None:
        if self.double:
            variable.grad_var = gy
        else:
            variable.grad = gy
            self.kept.add(_owner(gy))

    def _differentiate(
        self,
        function: FunctionNode,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        state: ThreadState,
    ) -> tuple[Any, ...]:
        """Returns one gradient (or None) for each target."""
        device = function._device
        if device is not None and device.backend.device() != device:
            with device:
                return self._differentiate(function, targets, gys, state)
        if state.hooks or state.debug or function._hooks:
            return self._differentiate_observed(function, targets, gys, state)
        return self._differentiate_plainly(function, targets, gys)

    def _differentiate_plainly(
        self, function: FunctionNode, targets: tuple[int, ...], gys: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        if self.double:
            return self._differentiate_variables(function, targets, gys)
        # Asked of the class: instances say no to what _run_on_arrays may not do by itself.
        if type(function)._gradients_on_arrays:
            return function.backward_arrays(targets, gys)
        return self._differentiate_wrapped(function, targets, gys)

    def _differentiate_variables(
        self, function: FunctionNode, targets: tuple[int, ...], gys: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        if not function._accumulates:
            return function._complete(targets, function.backward(targets, gys))  # pyright: ignore
        # The function adds to what is there already: take it out, once for each node.
        current: list[Any] = []
        inputs = function.inputs or ()
        for i in targets:
            x = inputs[i]
            previous = self.grads.pop(x, None)
            self._owned.discard(x)
            if previous.__class__ is list:
                previous = _sum(previous)
            if previous is not None and not self.double:
                previous = Variable._of_array(previous, False)  # pyright: ignore
            current.append(previous)
        gxs = function.backward_accumulate(targets, gys, tuple(current))
        if len(gxs) != len(targets):
            raise ValueError(
                f"number of gradients returned by backward_accumulate of {function.label} is "
                f"incorrect: {len(gxs)} != expected {len(targets)}"
            )
        return gxs

    def _differentiate_wrapped(
        self, function: FunctionNode, targets: tuple[int, ...], gys: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Runs a rule that works on Variables for gradients that are arrays."""
        variables = tuple([None if gy is None else Variable._of_array(gy, False) for gy in gys])  # pyright: ignore
        gxs = self._differentiate_variables(function, targets, variables)
        return tuple([None if gx is None else _array_of(function, gx) for gx in gxs])

    def _differentiate_observed(
        self,
        function: FunctionNode,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        state: ThreadState,
    ) -> tuple[Any, ...]:
        """Runs a rule with hooks and debug checks around it."""
        hooks = function._all_hooks(state)
        in_data = tuple([x.data for x in function.inputs or ()])
        out_grad = tuple([gy.array if isinstance(gy, Variable) else gy for gy in gys])
        for hook in hooks:
            hook.backward_preprocess(function, in_data, out_grad)
        gxs = self._differentiate_plainly(function, targets, gys)
        for hook in hooks:
            hook.backward_postprocess(function, in_data, out_grad)
        if state.debug:
            for gx in gxs:
                if has_nan(gx.array if isinstance(gx, Variable) else gx):
                    raise RuntimeError(
                        "NaN is detected on backward computation of "
                        f"{function.label}{_where(function)}"
                    )
        return gxs


def _array_of(function: FunctionNode, gx: Any) -> Any:
    if not isinstance(gx, Variable):
        raise TypeError(
            f"backward of {function.label} must return Variables (or None), got {type(gx)}"
        )
    return gx.array


def _where(function: FunctionNode) -> str:
    if function.stack is None:
        return ""
    return "\nStacktrace of the function is below:\n" + "".join(function.stack.format())


def _sum(variables: list[Variable]) -> Variable:
    """Adds up gradients at once; a chain of additions would keep every partial sum."""
    from chainer.core import registries

    return registries.functions.get("add")(*variables)


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
    grads: _Grads = {}
    for i, y in enumerate(outputs):
        given = None if grad_outputs is None else grad_outputs[i]
        if given is None:
            gy = Variable(_ones(y, loss_scale), requires_grad=False)
        else:
            given = as_variable(given)
            check_gradient(y.array, given.array, f"grad_outputs[{i}]: ")
            gy: Variable = given if loss_scale is None else given * loss_scale
        value: Any = gy if enable_double_backprop else gy.array
        previous = grads.get(y.node)
        grads[y.node] = value if previous is None else previous + value

    walk = _Walk(grads, enable_double_backprop, retain_grad, wanted, allowed)
    with using_config("enable_backprop", enable_double_backprop):
        walk.run(functions)

        results: list[Variable | None] = []
        shared: dict[VariableNode, Variable | None] = {}
        for i, (x, node) in enumerate(zip(inputs, input_nodes, strict=True)):
            if node not in shared:
                gx = grads.get(node)
                if gx is not None and not isinstance(gx, Variable):
                    gx = Variable(numpy.asarray(gx) if isinstance(gx, _Scalar) else gx)
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
