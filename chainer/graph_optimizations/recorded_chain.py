"""Records of static chains: forward and backward computation as two programs of a backend."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import NotRecordableError, Program, Recorder
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, Arrays
from chainer.graph_optimizations.array_substitution import ArraySubstitution, Run, recorded
from chainer.links.link import Link
from chainer.training.capturing.circumstances import current_reporter
from chainer.training.capturing.snapshot import (
    TRIALS_OF_ROUNDED_PROGRAMS,
    Snapshot,
    are_same,
    bytes_of_results,
)
from chainer.training.capturing.targets import Targets


class RecordedChain:
    """The programs of one signature.

    On a backend whose programs compute in fixed memory, they serve one graph at a time.

    Attributes:
        guards: What has to be as it was.
        inputs: Numbers of the arguments that the results depend on by differentiable functions.
        parameters: Parameters that are inputs of the node, after the arguments of the chain.
        result: What the method returned, with Variables whose values do not matter.
        is_verified: Whether the programs were compared with a run as written.
        failures: How many comparisons have failed.
        trials: How many may fail until the chain runs as it is written for good.
        user: Weak reference to the node that uses the fixed memory of the programs, if any does.
    """

    def __init__(
        self, chain: Link, run: Run, in_vars: Sequence[Variable], arrays_given: frozenset[int]
    ) -> None:
        self.is_verified = False
        self.failures = 0
        self._arrays_given = arrays_given
        self._require_gradients = [x.requires_grad for x in in_vars]
        self.user: weakref.ref[FunctionNode] | None = None
        # The programs, and the graph that was recorded, exist once.
        self._lock = threading.Lock()
        self._given = bytes_of_results(list(in_vars), True)
        self._targets = Targets((chain,))
        self._backend = _backend_of(self._targets, in_vars)
        snapshot = Snapshot(self._targets, current_reporter())
        try:
            self._refuse_kept_arrays(run, in_vars)
            snapshot.restore()
            self._record(run, in_vars)
        finally:
            snapshot.restore()

    def _make_recorder(self) -> Recorder:
        recorder = self._backend.recorder(self._backend.device())
        if recorder is None:
            raise NotRecordableError(f"backend {self._backend.name!r} cannot record")
        return recorder

    # -- recording --------------------------------------------------------------------------------

    def _refuse_kept_arrays(self, run: Run, in_vars: Sequence[Variable]) -> None:
        """Refuses a method that keeps arrays elsewhere: a record would not fill them again."""
        recorder = self._make_recorder()
        with ArraySubstitution(self._targets, recorder) as substitution:
            substitution.run(run, in_vars)
        del substitution
        kept = recorder.kept()
        if kept is not None:
            raise NotRecordableError(f"it keeps an array ({kept}) besides its results")

    def _record(self, run: Run, in_vars: Sequence[Variable]) -> None:
        recorder = self._make_recorder()
        with ArraySubstitution(self._targets, recorder) as substitution:
            result, outputs = substitution.run(run, in_vars)
            for y in outputs:
                if not recorder.is_recorded(y.array):
                    raise NotRecordableError("a result does not depend on arguments or parameters")
            self._find_leaves(substitution.inputs, outputs)
            self._signatures = [(y.shape, y.dtype) for y in outputs]
            self._outputs = outputs
            self._differentiable = self._numbers_of_differentiable(outputs)
            second = None
            if self._differentiable and self._leaves:
                second = recorder.continued()
                if second is None:
                    raise NotRecordableError("its backend records whole steps only")
            self._forward = recorder.program([y.array for y in outputs])
            self._backward = None if second is None else self._backward_program(recorder, second)
        self._is_exact = self._forward.is_exact
        self.trials = 1 if self._is_exact else TRIALS_OF_ROUNDED_PROGRAMS
        self._uses_fixed_memory = self._forward.intermediates() is None
        self._forward.set_intermediates(None)
        self.guards = substitution.guards()
        self._arrays = [p.array for p in self.parameters]
        self.result = result

    def _find_leaves(self, inputs: list[Variable], outputs: list[Variable]) -> None:
        found = {id(x): x for x in _leaves_of(outputs)} if config.enable_backprop else {}
        self.parameters = [p for p in self._targets.parameters() if id(p) in found]
        # The caller of an argument that is an array has no Variable to ask for a gradient.
        self.inputs = [
            i for i, x in enumerate(inputs) if id(x) in found and i not in self._arrays_given
        ]
        known = {id(x) for x in (*inputs, *self.parameters, *outputs)}
        for x in [x for x in found.values() if id(x) not in known]:
            raise NotRecordableError(
                f"it differentiates by a Variable ({x.name or x.dtype}) that is neither an "
                "argument nor a parameter of the chain"
            )
        self._leaves = [*[inputs[i] for i in self.inputs], *self.parameters]

    def _numbers_of_differentiable(self, outputs: list[Variable]) -> list[int]:
        leaves = {id(x) for x in self._leaves}
        return [
            i
            for i, y in enumerate(outputs)
            if id(y) in leaves or (y.requires_grad and y.creator_node is not None)
        ]

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

    def check(
        self, in_vars: Sequence[Variable], run: Run
    ) -> tuple[str | None, Any, list[Variable]]:
        """Compares the programs with a run as written, on other values than those recorded.

        Args:
            in_vars: Arguments of the call.
            run: Calls the method.

        Returns:
            tuple: What differs, or None; and the results of the run as written.
        """
        arrays = [x.array for x in in_vars]
        if not self._differs(arrays):
            # Training on one batch: the same values in another order show what depends on them.
            arrays = [a[::-1].copy() if a.ndim else a for a in arrays]
        failure: str | None = "its arguments have the same values in each call"
        if self._differs(arrays):
            snapshot = Snapshot(self._targets, current_reporter())
            try:
                failure = self._compare(snapshot, arrays, run)
            except Exception as error:  # of a method that takes its arguments in one order only
                failure = f"{type(error).__name__}: {error}"
            finally:
                snapshot.restore()
        if failure is not None:
            self.failures += 1
        return failure, *run(in_vars)

    def _differs(self, arrays: Sequence[Array]) -> bool:
        """Returns whether arguments have other values than those of the recording."""
        return bytes_of_results(list(arrays), True) != self._given

    def _compare(self, snapshot: Snapshot, arrays: Sequence[Array], run: Run) -> str | None:
        """Returns in what the programs differ from the method; None if in nothing."""
        is_exact = self._is_exact
        ys, intermediates = self.forward(arrays)
        gys = [_some_gradient(ys[i]) for i in self._differentiable]
        repeated = _values("result", ys, is_exact) | snapshot.values(is_exact)
        if self._backward is not None:
            with self._computed(intermediates):
                repeated |= _values("gradient", self._all_gradients(gys), is_exact)
                walked = self._partial_gradients(list(zip(self._differentiable, gys)))
            repeated |= _values("gradient by the graph", walked, is_exact)
        snapshot.restore()
        # Of their own: a parameter may also be in the graph that an argument ends.
        inputs = [
            Variable(array, requires_grad=x) for array, x in zip(arrays, self._require_gradients)
        ]
        outputs = run(inputs)[1]
        written = _values("result", [y.array for y in outputs], is_exact)
        written |= snapshot.values(is_exact)
        if self._backward is not None:
            leaves = [*[inputs[i] for i in self.inputs], *self.parameters]
            gradients = grad(
                [outputs[i] for i in self._differentiable], leaves, [Variable(g) for g in gys]
            )
            plain = [None if g is None else g.array for g in gradients]
            written |= _values("gradient", plain, is_exact)
            written |= _values("gradient by the graph", plain, is_exact)
        for name in sorted(repeated.keys() | written.keys()):
            if not are_same(repeated.get(name), written.get(name), is_exact):
                return f"{name} differs from that of the method"
        self.is_verified = True
        return None

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

    def gradients(self, gys: Sequence[Array | None], intermediates: Any) -> list[Array | None]:
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
        # A gradient is that of the parameters as they are now, as without a record.
        is_same = all([p._array is array for p, array in zip(self.parameters, self._arrays)])
        with self._computed(intermediates):
            if is_usual and is_same:
                return self._all_gradients([gy for _, gy in given])
            return self._partial_gradients(given)

    @contextlib.contextmanager
    def _computed(self, intermediates: Any) -> Iterator[None]:
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
        recorder = self._make_recorder()
        with ArraySubstitution(self._targets, recorder):
            gys = [Variable(recorder.state(gy)) for _, gy in given]
            gradients = self._differentiate([i for i, _ in given], gys)
            return [None if g is None else recorder.plain(g.array) for g in gradients]


def _backend_of(targets: Targets, in_vars: Sequence[Variable]) -> Backend:
    """Returns the backend of all arrays; raises NotRecordableError if no record is possible."""
    for link in targets.links():
        if link._local_link_hooks:
            raise NotRecordableError("a link has hooks of its own")
    for p in targets.parameters():
        if p._array is None:
            raise NotRecordableError(f"parameter {p.name!r} is not initialized")
    arrays = [x.array for x in (*in_vars, *targets.parameters())]
    backends = {backend_of(array) for array in arrays}
    if len(backends) != 1:
        raise NotRecordableError(f"its arrays belong to {len(backends)} backends")
    return backends.pop()


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


def _values(what: str, arrays: Sequence[Any], is_exact: bool) -> dict[str, Any]:
    given = [(i, a) for i, a in enumerate(arrays) if a is not None]
    texts = bytes_of_results([a for _, a in given], is_exact)
    return {f"{what} {i}": text for (i, _), text in zip(given, texts, strict=True)}
