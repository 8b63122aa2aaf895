"""Records of static chains: forward and backward computation as two programs of a backend."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy

from chainer.core.arrays.backend import backend_of
from chainer.core.arrays.protocol import Backend
from chainer.core.arrays.recorder import NotRecordableError, Program, Recorder
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import grad
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config, threads
from chainer.core.typing import Array
from chainer.links.link import Link
from chainer.training.capturing.circumstances import (
    configuration,
    current_reporter,
    runs_as_written,
    with_place,
)
from chainer.training.capturing.program import Guards
from chainer.training.capturing.snapshot import Snapshot, are_same, bytes_of_results
from chainer.training.capturing.targets import (
    SIMPLE,
    Targets,
    array_slots,
    other_attributes,
    python_state,
    variable_slots,
)

#: Calls of one signature whose graphs are alive at the same time, and that are repeated; each needs
#: memory of its own. The unrolled calls of a long loop run as written beyond that.
MOST_AT_ONCE = 8

#: Records of one chain, for as many shapes, modes and settings. Beyond that, it runs as written.
MOST_RECORDS = 24

#: Calls the method, with other Variables in place of those of the call; returns what it returns,
#: and the Variables in that.
Run = Callable[[Sequence[Variable]], tuple[Any, list[Variable]]]


class RecordedChain:
    """The programs of one signature; they serve one graph at a time.

    Attributes:
        guards: What has to be as it was.
        inputs: Numbers of the arguments that the results depend on by differentiable functions.
        parameters: Parameters that are inputs of the node, after the arguments of the chain.
        result: What the method returned, with Variables whose values do not matter.
        is_verified: Whether the programs were compared with a run as written.
        user: Weak reference to the node that uses the memory of the programs.
    """

    def __init__(
        self, chain: Link, run: Run, in_vars: Sequence[Variable], arrays_given: frozenset[int]
    ) -> None:
        self.is_verified = False
        self._arrays_given = arrays_given
        self._require_gradients = [x.requires_grad for x in in_vars]
        self.user: weakref.ref[FunctionNode] | None = None
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
        with Exchange(self._targets, recorder) as exchange:
            outputs = exchange.run(run, in_vars)[1]
            recorder.program([y.array for y in outputs])
            del outputs
        del exchange
        kept = recorder.kept()
        if kept is not None:
            raise NotRecordableError(f"it keeps an array ({kept}) besides its results")

    def _record(self, run: Run, in_vars: Sequence[Variable]) -> None:
        recorder = self._make_recorder()
        with Exchange(self._targets, recorder) as exchange:
            result, outputs = exchange.run(run, in_vars)
            for y in outputs:
                if not recorder.is_recorded(y.array):
                    raise NotRecordableError("a result does not depend on arguments or parameters")
            self._find_leaves(exchange.inputs, outputs)
            self._signatures = [(y.shape, y.dtype) for y in outputs]
            self._outputs = outputs
            leaves = {id(x) for x in self._leaves}
            self._differentiable = [
                i
                for i, y in enumerate(outputs)
                if id(y) in leaves or (y.requires_grad and y.creator_node is not None)
            ]
            self._backward: Program | None = None
            if self._differentiable and self._leaves:
                self._record_backward(recorder)
            self._forward = recorder.program([y.array for y in outputs])
        if not self._forward.is_exact:
            raise NotRecordableError("programs of its backend round in other places")
        self.guards = exchange.guards()
        self._arrays = [p.array for p in self.parameters]
        self.result = result

    def _find_leaves(self, inputs: list[Variable], outputs: list[Variable]) -> None:
        found = {id(x): x for x in _leaves_of(outputs)} if config.enable_backprop else {}
        self.parameters = [p for p in self._targets.parameters() if id(p) in found]
        # Nobody has the Variable that holds an array given as an argument, to ask for its gradient.
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

    def _record_backward(self, recorder: Recorder) -> None:
        second = recorder.continued()
        if second is None:
            raise NotRecordableError("its backend cannot record a forward computation alone")
        plain = [recorder.plain(self._outputs[i].array) for i in self._differentiable]
        gys = [Variable(second.argument(y)) for y in plain]
        gradients = _recorded(second, lambda: self._differentiate(self._differentiable, gys))
        arrays = [g.array for g in gradients if g is not None]
        for array in arrays:
            if not second.is_recorded(array):
                raise NotRecordableError("a gradient does not depend on those of the results")
        self._has_gradient = [g is not None for g in gradients]
        self._backward = second.program(arrays)

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
        return failure, *run(in_vars)

    def _differs(self, arrays: Sequence[Array]) -> bool:
        """Returns whether arguments have other values than those of the recording."""
        return bytes_of_results(list(arrays), True) != self._given

    def _compare(self, snapshot: Snapshot, arrays: Sequence[Array], run: Run) -> str | None:
        """Returns in what the programs differ from the method; None if in nothing."""
        ys = self._forward(arrays)
        gys = [_some_gradient(ys[i]) for i in self._differentiable]
        recorded = _values("result", ys) | snapshot.values(True)
        if self._backward is not None:
            recorded |= _values("gradient", self._all_gradients(gys))
            walked = self._partial_gradients(list(zip(self._differentiable, gys)))
            recorded |= _values("gradient by the graph", walked)
        snapshot.restore()
        # Of their own: a parameter may also be in the graph that an argument ends.
        inputs = [
            Variable(array, requires_grad=x) for array, x in zip(arrays, self._require_gradients)
        ]
        outputs = run(inputs)[1]
        written = _values("result", [y.array for y in outputs]) | snapshot.values(True)
        if self._backward is not None:
            leaves = [*[inputs[i] for i in self.inputs], *self.parameters]
            gradients = grad(
                [outputs[i] for i in self._differentiable], leaves, [Variable(g) for g in gys]
            )
            plain = [None if g is None else g.array for g in gradients]
            written |= _values("gradient", plain) | _values("gradient by the graph", plain)
        for name in sorted(recorded.keys() | written.keys()):
            if not are_same(recorded.get(name), written.get(name), True):
                return f"{name} differs from that of the method"
        self.is_verified = True
        return None

    # -- repeating --------------------------------------------------------------------------------

    def is_free(self) -> bool:
        """Returns whether no graph needs the memory of the programs."""
        return self.user is None or self.user() is None

    def forward(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Computes the results from the arguments."""
        return tuple(self._forward(arrays))

    def gradients(self, gys: Sequence[Array | None]) -> list[Array | None]:
        """Computes the gradients of :attr:`inputs` and :attr:`parameters`.

        Args:
            gys: Gradients of the results; None where there is none.
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
        if is_usual and is_same:
            return self._all_gradients([gy for _, gy in given])
        return self._partial_gradients(given)

    def _all_gradients(self, gys: list[Array]) -> list[Array | None]:
        assert self._backward is not None
        arrays = iter(self._backward(gys))
        return [next(arrays) if has_gradient else None for has_gradient in self._has_gradient]

    def _partial_gradients(self, given: list[tuple[int, Array]]) -> list[Array | None]:
        """Walks the recorded graph, whose arrays have the values of the last call."""
        recorder = self._make_recorder()
        with Exchange(self._targets, recorder):
            gys = [Variable(recorder.state(gy)) for _, gy in given]
            gradients = self._differentiate([i for i, _ in given], gys)
            return [None if g is None else recorder.plain(g.array) for g in gradients]


class Exchange:
    """Arrays of a recorder in the places of those of a chain, as a context.

    Args:
        targets: The chain.
        recorder: The recorder.
    """

    def __init__(self, targets: Targets, recorder: Recorder) -> None:
        self._links = targets.links()
        self._parameters = targets.parameters()
        self._recorder = recorder
        self._nodes = [p.node for p in self._parameters]

    def __enter__(self) -> Self:
        self._state = python_state(self._links, [], [])
        self._slots = [(slot, slot.get()) for slot in array_slots(self._links, [])]
        self._arrays = [p._array for p in self._parameters]
        self._retained = [node.data for node in self._nodes]
        for p, node in zip(self._parameters, self._nodes, strict=True):
            p._array = node.data = self._recorder.state(p._array)
        for slot, array in self._slots:
            slot.set(self._recorder.state(array))
        return self

    def __exit__(self, *_: object) -> None:
        places = zip(self._parameters, self._nodes, self._arrays, self._retained, strict=True)
        for p, node, array, retained in places:
            p._array, node.data = array, retained
        for slot, array in self._slots:
            slot.set(array)

    def run(self, run: Run, in_vars: Sequence[Variable]) -> tuple[Any, list[Variable]]:
        """Runs the method; raises NotRecordableError if a record could not repeat it.

        Args:
            run: Calls the method.
            in_vars: Arguments of the call.
        """
        if any([True for _ in variable_slots(self._links)]):
            raise NotRecordableError("an attribute of a link holds a Variable")
        self.inputs = [
            Variable(self._recorder.argument(x.array), name=x.name, requires_grad=x.requires_grad)
            for x in in_vars
        ]
        members = [dict(vars(link)) for link in self._links]
        arrays = [p._array for p in self._parameters]
        contents = _contents(self._links)
        reported = _reported()
        result, outputs = _recorded(self._recorder, lambda: run(self.inputs))
        if _reported() != reported:
            raise NotRecordableError("the method reports values")
        if _contents(self._links) != contents:
            raise NotRecordableError("the method changes a list, dict or set of a link")
        for p, array in zip(self._parameters, arrays, strict=True):
            if p._array is not array:
                raise NotRecordableError(f"the method replaces parameter {p.name!r}")
        for link, before in zip(self._links, members, strict=True):
            now = vars(link)
            for name in now.keys() | before.keys():
                if now.get(name) is not before.get(name) and not _is_equal(
                    now.get(name), before.get(name)
                ):
                    raise NotRecordableError(
                        f"the method changes attribute {name!r} of {type(link).__name__}"
                    )
        return result, outputs

    def guards(self) -> Guards:
        """Returns what has to be as it was when the context was entered."""
        values = list(self._state.values())
        objects = [(slot.members, slot.name, array) for slot, array in self._slots]
        for link in self._links:
            for slot, value in other_attributes(link):
                if isinstance(value, Parameter):
                    objects.append((slot.members, slot.name, value))
                else:
                    values.append((slot, value))
        parameters = [
            (p, array, p._requires_grad, p.update_rule, _is_enabled(p.update_rule))
            for p, array in zip(self._parameters, self._arrays, strict=True)
        ]
        sizes = [(vars(link), len(vars(link))) for link in self._links]
        return Guards(objects, parameters, values, sizes, [], [], tuple)


class _Entry:
    """What is known about the calls of one signature."""

    def __init__(self, arrays_given: frozenset[int]) -> None:
        self.arrays_given = arrays_given
        self.calls = 0
        self.records: list[RecordedChain] = []


class ChainRecords:
    """The records of one chain.

    Args:
        chain: The chain.
        verbosity_level: 1 to print why the chain is not recorded.

    Attributes:
        reason: Why the chain always runs as it is written; None while it may be recorded.
    """

    def __init__(self, chain: Link, verbosity_level: int) -> None:
        self._chain = weakref.ref(chain)
        self._verbosity_level = verbosity_level
        self._entries: dict[Hashable, _Entry] = {}
        self._recorded = 0
        self._lock = threading.Lock()
        self.reason: str | None = None

    def serves(self, chain: Link) -> bool:
        """Returns whether the records are those of a chain; a copy of a chain needs its own."""
        return self._chain() is chain

    def refuse(self, reason: str) -> None:
        """Lets the chain run as it is written from now on."""
        if self.reason is None:
            self.reason = reason
            if self._verbosity_level >= 1:
                print(f"static_graph: runs as it is written: {reason}")

    def clear(self) -> None:
        """Forgets all records."""
        with self._lock:
            self._entries.clear()
            self._recorded = 0

    def find(
        self,
        in_vars: Sequence[Variable],
        arrays_given: frozenset[int],
        structure: Hashable,
        node: FunctionNode,
    ) -> tuple[_Entry | None, RecordedChain | None]:
        """Returns what is known of a signature, and a record that the node may use.

        Args:
            in_vars: Arguments.
            arrays_given: Numbers of the arguments that were given as arrays.
            structure: How they are nested.
            node: The node of the call. It owns the memory of the record as long as it lives.
        """
        if self.reason is not None or runs_as_written():
            return None, None
        key = (
            structure,
            arrays_given,
            tuple([(type(x.array), x.dtype, x.shape, x.requires_grad) for x in in_vars]),
            configuration(),
            current_reporter() is None,
        )
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(arrays_given)
            entry.calls += 1
            if entry.calls == 1 or len({id(x.node) for x in in_vars}) < len(in_vars):
                return None, None
            for record in entry.records:
                if record.is_verified and record.is_free() and record.guards.holds():
                    record.user = weakref.ref(node)
                    return entry, record
        return entry, None

    def learn(
        self, entry: _Entry, in_vars: Sequence[Variable], run: Run
    ) -> tuple[Any, list[Variable]]:
        """Runs the method as it is written, and records it or compares a record with it.

        Args:
            entry: What is known of the signature.
            in_vars: Arguments.
            run: Calls the method.

        Returns:
            tuple: What the method returned, and the Variables in that.
        """
        chain = self._chain()
        assert chain is not None
        valid = [r for r in entry.records if r.guards.holds()]
        for record in valid:
            if not record.is_verified:
                failure, result, outputs = record.check(in_vars, run)
                if failure is not None:
                    self.refuse(failure)
                return result, outputs
        if len(valid) < MOST_AT_ONCE:
            self._recorded += 1
            if self._recorded > MOST_RECORDS:
                self.refuse(f"it needs more than {MOST_RECORDS} records")
            else:
                try:
                    entry.records.append(RecordedChain(chain, run, in_vars, entry.arrays_given))
                except NotRecordableError as error:
                    self.refuse(with_place(error))
                except Exception as error:
                    # Of the method, which raises it again, or of a call of NumPy that recorded
                    # arrays do not support.
                    self.refuse(f"{type(error).__name__}: {error}")
        return run(in_vars)

    def explain(self) -> str:
        """Returns what is recorded, or why the chain runs as it is written."""
        if self.reason is not None:
            return f"runs as it is written: {self.reason}"
        records = [r for entry in self._entries.values() for r in entry.records]
        ready = [r for r in records if r.is_verified]
        return f"{len(ready)} records in use, {len(records) - len(ready)} to be compared"


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


def _recorded(recorder: Recorder, function: Callable[[], Any]) -> Any:
    state = threads.state
    state.recorder = recorder
    try:
        return recorder.run(function)
    finally:
        state.recorder = None


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
        if variable is not None:  # else nobody can ask for its gradient
            found[id(variable)] = variable
    return list(found.values())


def _contents(links: Sequence[Link]) -> list[list[int]]:
    """Returns the identities of what containers of links hold."""
    found: list[list[int]] = []
    for link in links:
        for value in vars(link).values():
            if isinstance(value, dict):
                found.append([id(v) for pair in value.items() for v in pair])
            elif isinstance(value, (list, set)):
                found.append([id(v) for v in value])
    return found


def _some_gradient(y: Array) -> Array:
    """Returns values of all sizes and both signs, in the shape of an array."""
    backend = backend_of(y)
    host = numpy.sin(1.0 + numpy.arange(y.size)).reshape(y.shape).astype(y.dtype)
    return backend.from_host(host, backend.device_of(y))


def _values(what: str, arrays: Sequence[Any]) -> dict[str, Any]:
    given = [(i, a) for i, a in enumerate(arrays) if a is not None]
    texts = bytes_of_results([a for _, a in given], True)
    return {f"{what} {i}": text for (i, _), text in zip(given, texts, strict=True)}


def _reported() -> list[tuple[str, int]]:
    """Returns the keys of the current observation, with the identities of the values."""
    reporter = current_reporter()
    return [] if reporter is None else [(k, id(v)) for k, v in reporter.observation.items()]


def _is_equal(old: Any, new: Any) -> bool:
    """Returns whether plain values are equal; NaN, which equals nothing, equals itself."""
    if type(old) is not type(new) or not isinstance(new, SIMPLE):
        return False
    return old == new or new != new


def _is_enabled(rule: Any) -> bool:
    return rule is not None and rule.enabled
