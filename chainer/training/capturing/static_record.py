"""The record of a static chain: one program for the forward, one for the backward computation."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.recorder import NotRecordableError, Program, Recorder
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays
from chainer.links.link import Link
from chainer.training.capturing.circumstances import current_reporter
from chainer.training.capturing.comparison import Found, difference, values_of
from chainer.training.capturing.guards import Guards
from chainer.training.capturing.machine import Record
from chainer.training.capturing.recorders import common_backend, recorded, recorder_of
from chainer.training.capturing.snapshot import Snapshot
from chainer.training.capturing.state import Kind, Role, StateTree
from chainer.training.capturing.structure import Structure
from chainer.training.capturing.substitution import Substitution
from chainer.training.capturing.surroundings import tree_of

#: Calls the method, with other Variables in place of those of the call; returns the structure of
#: the result, and the Variables in it.
Run = Callable[[Sequence[Variable]], tuple[Structure, list[Variable]]]


class ChainRecord(Record):
    """The programs of one signature.

    On a backend whose programs compute in fixed memory, they serve one graph at a time.

    Args:
        chain: The chain.
        method: Its method.
        run: Calls the method.
        in_vars: Arguments of the call.
        are_arrays: Whether each argument was given as an array.

    Attributes:
        inputs: Numbers of the arguments that the results depend on by differentiable functions.
        parameters: Parameters that are inputs of the node, after the arguments of the chain.
        result: The structure of the result.
        user: Weak reference to the node that uses the fixed memory of the programs, if any does.

    Raises:
        NotRecordableError: If programs cannot repeat the method.
    """

    def __init__(
        self,
        chain: Link,
        method: Callable[..., Any],
        run: Run,
        in_vars: Sequence[Variable],
        are_arrays: Sequence[bool],
    ) -> None:
        self._chain, self._method, self._are_arrays = chain, method, are_arrays
        self._require_gradients = [x.requires_grad for x in in_vars]
        self.user: weakref.ref[FunctionNode] | None = None
        # The programs, and the graph that was recorded, exist once.
        self._lock = threading.Lock()
        self._given = values_of("argument", in_vars, True)
        self._tree = self._tree_now()
        if any([link._local_link_hooks for link in self._tree.links]):
            raise NotRecordableError("a link has hooks of its own")
        self._backend = common_backend(in_vars, self._tree)
        snapshot = Snapshot(self._tree, current_reporter())
        try:
            self._refuse_kept_arrays(run, in_vars)
            snapshot.restore()
            self._record(run, in_vars)
        finally:
            snapshot.restore()

    def _tree_now(self) -> StateTree:
        return tree_of(self._method, (self._chain,), with_updates=False)

    @contextlib.contextmanager
    def _substituted(self, tree: StateTree, recorder: Recorder) -> Iterator[None]:
        """Context in which arrays of a recorder are in all slots."""
        substitution = Substitution(tree, recorder)
        try:
            substitution.enter(with_gradients=False)
            yield
        finally:
            substitution.leave()

    # -- recording --------------------------------------------------------------------------------

    def _refuse_kept_arrays(self, run: Run, in_vars: Sequence[Variable]) -> None:
        """Refuses a method that keeps arrays elsewhere: a record would not fill them again."""
        recorder = recorder_of(self._backend)
        with self._substituted(self._tree, recorder):
            self._run(recorder, run, in_vars)
        kept = recorder.kept()
        if kept is not None:
            raise NotRecordableError(f"it keeps an array ({kept}) besides its results")

    def _run(
        self, recorder: Recorder, run: Run, in_vars: Sequence[Variable]
    ) -> tuple[list[Variable], Structure, list[Variable]]:
        """Runs the method; raises NotRecordableError if a record could not repeat it.

        Returns:
            tuple: The arguments that it got, the structure of the result, and its Variables.
        """
        if self._tree.of_kind(Kind.VARIABLE):
            raise NotRecordableError("an attribute of a link holds a Variable")
        inputs = [
            Variable(recorder.argument(x.array), name=x.name, requires_grad=x.requires_grad)
            for x in in_vars
        ]
        before, reported = self._tree.again(), _reported()
        result, outputs = recorded(recorder, lambda: run(inputs))
        if _reported() != reported:
            raise NotRecordableError("the method reports values")
        for slot, _, _ in before.changes(before.again()):
            if slot.owner.role is Role.PARAMETER:
                raise NotRecordableError(f"the method replaces {slot.owner.label}")
            raise NotRecordableError(f"the method changes {slot}")
        return inputs, result, outputs

    def _record(self, run: Run, in_vars: Sequence[Variable]) -> None:
        recorder = recorder_of(self._backend)
        with self._substituted(self._tree, recorder):
            inputs, self.result, outputs = self._run(recorder, run, in_vars)
            for y in outputs:
                if not recorder.is_recorded(y.array):
                    raise NotRecordableError("a result does not depend on arguments or parameters")
            self._find_leaves(inputs, outputs)
            self._signatures = [(y.shape, y.dtype) for y in outputs]
            self._outputs = outputs
            leaves = {id(x) for x in self._leaves}
            self._differentiable = [
                i
                for i, y in enumerate(outputs)
                if id(y) in leaves or (y.requires_grad and y.creator_node is not None)
            ]
            second = None
            if self._differentiable and self._leaves:
                second = recorder.continued()
                if second is None:
                    raise NotRecordableError("its backend records whole steps only")
            self._forward = recorder.program([y.array for y in outputs])
            self._backward = None if second is None else self._backward_program(recorder, second)
        programs = (self._forward, self._backward)
        self.is_exact = all([each.is_exact for each in programs if each is not None])
        self._uses_fixed_memory = self._forward.intermediates() is None
        self._forward.set_intermediates(None)
        self.guards = Guards(self._tree)
        self._arrays = [p.array for p in self.parameters]

    def _find_leaves(self, inputs: list[Variable], outputs: list[Variable]) -> None:
        found = {id(x): x for x in _leaves_of(outputs)} if config.enable_backprop else {}
        self.parameters = [p for p in self._tree.parameters if id(p) in found]
        # The caller of an argument that is an array has no Variable to ask for a gradient.
        is_array = self._are_arrays
        self.inputs = [i for i, x in enumerate(inputs) if id(x) in found and not is_array[i]]
        known = {id(x) for x in (*inputs, *self.parameters, *outputs)}
        for x in [x for x in found.values() if id(x) not in known]:
            raise NotRecordableError(
                f"it differentiates by a Variable ({x.name or x.dtype}) that is neither an "
                "argument nor a parameter of the chain"
            )
        self._leaves = [*[inputs[i] for i in self.inputs], *self.parameters]

    def _backward_program(self, recorder: Recorder, second: Recorder) -> Program:
        plain = [recorder.plain(self._outputs[i].array) for i in self._differentiable]
        gys = [Variable(second.argument(y)) for y in plain]
        gradients = recorded(second, lambda: self._differentiate(self._differentiable, gys))
        arrays = [g.array for g in gradients if g is not None]
        for array in arrays:
            if not second.is_recorded(array):
                raise NotRecordableError("a gradient does not depend on those of the results")
        self._has_gradient = [g is not None for g in gradients]
        return second.program(arrays)

    def _differentiate(
        self, indexes: Sequence[int], gys: Sequence[Variable]
    ) -> list[Variable | None]:
        return grad([self._outputs[i] for i in indexes], self._leaves, gys)

    # -- comparing --------------------------------------------------------------------------------

    def compare(self, run: Run, in_vars: Sequence[Variable]) -> str | None:
        """Compares the programs with the method, on other values than those recorded.

        Args:
            run: Calls the method.
            in_vars: Arguments of the call.

        Returns:
            str: What differs; None if nothing does. The state is as it was.
        """
        arrays = [x.array for x in in_vars]
        if not self._differs(arrays):
            # Training on one batch: the same values in another order show what depends on them.
            arrays = [a[::-1].copy() if a.ndim else a for a in arrays]
            if not self._differs(arrays):
                return "its arguments have the same values in each call"
        snapshot = Snapshot(self._tree_now(), current_reporter())
        gys: list[Array] = []

        def repeat() -> Found:
            ys, intermediates = self.forward(arrays)
            gys[:] = [_some_gradient(ys[i]) for i in self._differentiable]
            gradients, walked = [], []
            if self._backward is not None:
                with self._computed(intermediates):
                    gradients = self._all_gradients(gys)
                    walked = self._partial_gradients(list(zip(self._differentiable, gys)))
            return self._values(ys, gradients, walked)

        def write() -> Found:
            # Variables of their own: a parameter may also be in the graph that an argument ends.
            flags = self._require_gradients
            inputs = [Variable(a, requires_grad=x) for a, x in zip(arrays, flags)]
            outputs = run(inputs)[1]
            gradients = []
            if self._backward is not None:
                leaves = [*[inputs[i] for i in self.inputs], *self.parameters]
                differentiable = [outputs[i] for i in self._differentiable]
                gradients = grad(differentiable, leaves, [Variable(g) for g in gys])
            return self._values(outputs, gradients, gradients)

        try:
            return difference(snapshot, repeat, write, self.is_exact, "method")
        except Exception as error:  # of a method that takes its arguments in one order only
            return f"{type(error).__name__}: {error}"
        finally:
            snapshot.restore()

    def _differs(self, arrays: Sequence[Array]) -> bool:
        """Returns whether arguments have other values than those of the recording."""
        return values_of("argument", arrays, True) != self._given

    def _values(self, ys: Sequence[Any], gradients: Sequence[Any], walked: Sequence[Any]) -> Found:
        return {
            **values_of("result", ys, self.is_exact),
            **values_of("gradient", gradients, self.is_exact),
            **values_of("gradient by the graph", walked, self.is_exact),
        }

    # -- repeating --------------------------------------------------------------------------------

    def is_free(self) -> bool:
        """Returns whether no graph needs the memory of the programs."""
        return self.user is None or self.user() is None

    def belongs_to(self, node: FunctionNode) -> None:
        """Keeps fixed memory of the programs for a node, as long as it lives."""
        if self._uses_fixed_memory:
            self.user = weakref.ref(node)

    def forward(self, arrays: Sequence[Array]) -> tuple[Arrays, Any]:
        """Computes the results from the arguments.

        Returns:
            tuple: The results, and what :meth:`gradients` needs of this call.
        """
        with self._lock:
            return tuple(self._forward(arrays)), self._forward.intermediates()

    def gradients(self, gys: Sequence[Array | None], intermediates: object) -> list[Array | None]:
        """Computes the gradients of :attr:`inputs` and :attr:`parameters`.

        Args:
            gys: Gradients of the results; None where there is none.
            intermediates: What :meth:`forward` returned besides the results.
        """
        indexes = self._differentiable
        given = [(i, gy) for i, gy in enumerate(gys) if gy is not None and i in indexes]
        if not given:
            return [None] * len(self._leaves)
        is_usual = len(given) == len(indexes) and all(
            [(gy.shape, gy.dtype) == self._signatures[i] for i, gy in given]
        )
        # A gradient is computed from the parameters as they are now, as without a record.
        is_same = all([p._array is array for p, array in zip(self.parameters, self._arrays)])
        with self._computed(intermediates):
            if is_usual and is_same:
                return self._all_gradients([gy for _, gy in given])
            return self._partial_gradients(given)

    @contextlib.contextmanager
    def _computed(self, intermediates: object) -> Iterator[None]:
        """Gives the recorded graph what a call of the forward program has computed."""
        if intermediates is None:
            yield
            return
        with self._lock:
            self._forward.set_intermediates(intermediates)
            try:
                yield
            finally:
                self._forward.set_intermediates(None)

    def _all_gradients(self, gys: list[Array]) -> list[Array | None]:
        assert self._backward is not None
        arrays = iter(self._backward(gys))
        return [next(arrays) if has_gradient else None for has_gradient in self._has_gradient]

    def _partial_gradients(self, given: list[tuple[int, Array]]) -> list[Array | None]:
        """Walks the recorded graph, whose arrays have the values of the last call."""
        recorder = recorder_of(self._backend)
        with self._substituted(StateTree.of((self._chain,), with_updates=False), recorder):
            gys = [Variable(recorder.state(gy)) for _, gy in given]
            gradients = self._differentiate([i for i, _ in given], gys)
            return [None if g is None else recorder.plain(g.array) for g in gradients]


def _reported() -> list[tuple[str, int]]:
    """Returns the keys of the current observation, with the identities of the values."""
    reporter = current_reporter()
    return [] if reporter is None else [(k, id(v)) for k, v in reporter.observation.items()]


def _leaves_of(outputs: Sequence[Variable]) -> list[Variable]:
    """Returns the Variables that graphs begin with, as far as they require gradients."""
    found: dict[int, Variable] = {}
    nodes = [y.node for y in outputs]
    seen: set[int] = set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not node.requires_grad:
            continue
        seen.add(id(node))
        function = node.creator_node
        if function is not None:
            nodes += function.input_nodes
            continue
        variable = node.get_variable_or_none()
        if variable is not None:  # else no program can ask for its gradient
            found[id(variable)] = variable
    return list(found.values())


def _some_gradient(y: Array) -> Array:
    """Returns values of all sizes and both signs, in the shape of an array."""
    backend = backend_of(y)
    host = numpy.sin(1.0 + numpy.arange(y.size)).reshape(y.shape).astype(y.dtype)
    return backend.from_host(host, backend.device_of(y))
