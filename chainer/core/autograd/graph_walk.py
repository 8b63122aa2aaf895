"""One walk over the graph backwards, in all its generality.

It serves gradients that are differentiated in turn, gradients that are kept, hooks, the debug mode,
and :func:`chainer.grad`. :func:`~chainer.core.autograd.backprop.backward` has a shorter one.
"""

# The graph is one data structure in several modules, which reach into each other for speed.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy

from chainer.core.arrays.backend import backend_of, find_backend
from chainer.core.autograd.function_node import FunctionNode, has_nan, is_current
from chainer.core.autograd.gradient_arrays import check_gradient
from chainer.core.autograd.gradient_memory import GradientMemory
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads

if TYPE_CHECKING:
    from chainer.core.autograd.variable_node import VariableNode
    from chainer.core.config.configuration import ThreadState

_ndarray = numpy.ndarray
# As Any: to the checker what is an instance of numpy.generic is "partially unknown".
Scalar: Any = numpy.generic
Gradients = dict["VariableNode", Any]


def ones_like(variable: Variable, loss_scale: float | None) -> Any:
    """Returns the initial gradient of a variable that nobody gave one."""
    array = variable.array
    backend = backend_of(array)
    with backend.use(backend.device_of(array)):
        grad = backend.xp.empty(array.shape, array.dtype)
        grad.fill(1 if loss_scale is None else loss_scale)  # quicker than full_like
    return grad


def add_elsewhere(previous: Any, gx: Any, in_place: bool) -> Any:
    """Adds up two gradients, the second of which is no NumPy array, on the device they are on."""
    backend = find_backend(gx.__class__)
    if backend is not None and backend.multi_device:
        device = backend.device_of(gx)
        if not is_current(device):
            with device:
                return _added(previous, gx, in_place)
    return _added(previous, gx, in_place)


def _added(previous: Any, gx: Any, in_place: bool) -> Any:
    if in_place:
        previous += gx
        return previous
    return previous + gx


def as_taken(function: FunctionNode, gy: Any) -> Any:
    """Returns a gradient that is no NumPy array as a rule for arrays takes it."""
    if isinstance(gy, Scalar):
        return numpy.asarray(gy)
    if not function.accepts_opaque_arrays:
        return backend_of(gy).to_xp(gy)
    return gy


def take_gradient(
    pop: Any, function: FunctionNode, node: VariableNode | None, memory: GradientMemory
) -> Any:
    """Takes the gradient of one of several outputs; else the one somebody gave the variable."""
    if node is None:
        return None
    gy = pop(node, None)
    if gy is None and function._output_has_grad:
        variable = node.get_variable_or_none()
        gy = None if variable is None else variable.grad
        if gy is not None:
            memory.keep_off(gy)
    if gy.__class__ is _ndarray or gy is None:
        return gy
    return as_taken(function, gy)


def clear_outputs(outputs: Any, root: VariableNode) -> None:
    """Clears stale gradients of intermediate variables."""
    for reference in outputs:
        node = reference()
        if node is not None and node is not root:
            variable = node.get_variable_or_none()
            if variable is not None:
                variable.cleargrad()


def check_input_gradient(function: FunctionNode, index: int, array: Any) -> None:
    """Raises unless an array can be the gradient of an input of a function."""
    x = (function.inputs or ())[index]
    if x.shape is not None:
        check_gradient(
            x, array, f"gradient {index} returned by backward of {function.label} is wrong. "
        )


class GraphWalk:
    """One walk over the graph, from given function nodes backwards.

    Args:
        grads: Gradient of each node reached so far; afterwards those of the nodes nobody created
            and those in ``wanted``.
        double: Whether gradients are Variables whose computation is recorded.
        retain_grad: Whether intermediate gradients are stored to the variables.
        memory: Who has the memory of gradients, needed for those that are stored or taken.
        wanted: Nodes whose gradients are to be kept although a function created them, or None.
        allowed: Nodes worth visiting, or None for all.
    """

    def __init__(
        self,
        grads: Gradients,
        double: bool,
        retain_grad: bool,
        memory: GradientMemory,
        wanted: set[VariableNode] | None = None,
        allowed: set[VariableNode] | None = None,
    ) -> None:
        self.grads = grads
        self.double = double
        self.retain_grad = retain_grad
        self.wanted = wanted
        self.allowed = allowed
        self.memory = memory
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
                    check_input_gradient(function, i, gx.array)
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
                        check_input_gradient(function, i, gx.array)
                    elif (gx.dtype, gx.shape) != x._type:
                        check_input_gradient(function, i, gx)
                    previous = grads.get(x)
                    if previous is None:
                        grads[x] = gx
                    elif double:
                        if previous.__class__ is list:
                            previous.append(gx)
                        else:
                            grads[x] = previous + gx
                    elif gx.__class__ is not _ndarray:
                        grads[x] = total = add_elsewhere(previous, gx, x in owned)
                        if not isinstance(total, Scalar):
                            owned.add(x)
                    elif x in owned:
                        previous += gx
                        grads[x] = previous
                    else:
                        total = previous + gx
                        if total.__class__ is _ndarray or not isinstance(total, Scalar):
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
                        gy = as_taken(function, gy)
                variable = node._variable() if node._variable is not None else None  # pyright: ignore
                if gy is None and variable is not None and self._counts_given(function):
                    gy = variable.grad_var if self.double else variable.grad
                    if gy is not None:
                        found = True
                        if not self.double:
                            self.memory.keep_off(gy)
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
            variable._grad = self.memory.claim(variable, variable._grad)

    def _differentiate(
        self,
        function: FunctionNode,
        targets: tuple[int, ...],
        gys: tuple[Any, ...],
        state: ThreadState,
    ) -> tuple[Any, ...]:
        """Returns one gradient (or None) for each target."""
        device = function._device
        if device is not None and not is_current(device):
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
    from chainer.core.registry import registries

    return registries.functions.get("add")(*variables)
