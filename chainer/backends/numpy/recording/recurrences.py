"""Recurrent layers that are written step by step: a kernel makes all steps in one call.

Providers list what they offer in an attribute ``recurrences`` of their kernels
(:class:`~chainer.kernel.Recurrence`). Steps that no kernel declares are found by
:mod:`.repeated_steps`, for a compiler that makes the calls of which they consist. Nothing here
knows an operation by name. Calls are found by what they read and write, whatever is recorded
between them, and stand together in the program if no other call has to be made between two of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy

from chainer.backends.numpy.recording.contraction import contracted_order, without_cycles
from chainer.backends.numpy.recording.dependencies import (
    Dependencies,
    Parents,
    depends_on_arguments_alone,
    interval,
)
from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves, references
from chainer.backends.numpy.recording.moves import with_moves
from chainer.backends.numpy.recording.native_loops import native_compiler
from chainer.backends.numpy.recording.planning import Plan
from chainer.backends.numpy.recording.repeated_steps import can_repeat, repeated_steps
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.step_patterns import Repeated, Step, is_number
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import recorded_method
from chainer.core.arrays.kernel_declaration import ArraySpec
from chainer.core.arrays.recurrence import (
    ANYTHING,
    Recurrence,
    StepCall,
    all_steps,
    recurrences_of,
    step_calls_of,
    supports_steps,
)
from chainer.core.typing import HostArray

#: Longer programs take long to look at.
_LONGEST_PROGRAM = 20000

#: Steps that are made in one call are as many or more.
_FEWEST_STEPS = 2

#: The largest memory of intermediate results, relative to that of the single calls, and bytes that
#: are always allowed. What all steps make is there at the same time. A peephole LSTM takes 1.45 to
#: 1.56 times the memory of its single calls, and 0.6 to 0.7 of the memory of the step as written.
_MOST_MEMORY, _SPARE_BYTES = 1.6, 1 << 18

_T = TypeVar("_T")


class _Layer(NamedTuple):
    """The steps of a layer.

    Attributes:
        recurrence: What they are.
        kernel: The kernel that makes all of them.
        steps: The steps, in order.
        is_derived: Whether no kernel declares the recurrence, so that the kernel gets it.
    """

    recurrence: Recurrence
    kernel: Any
    steps: list[Step]
    is_derived: bool = False

    def given(self) -> tuple[Recurrence, ...]:
        """Returns what methods of the kernel get before the arrays."""
        return (self.recurrence,) if self.is_derived else ()

    def calls(self) -> tuple[int, ...]:
        """Returns the numbers of all calls."""
        return tuple([i for step in self.steps for i in step.numbers])


class AllSteps:
    """The function of a call that makes all steps of a layer.

    Args:
        kernel: The kernel.
        method: Name of its method that returns what makes all steps.
        arrays: References of each step, by names.
        given: Arguments of the method before the arrays.
    """

    def __init__(
        self,
        kernel: Any,
        method: str,
        arrays: Mapping[str, Sequence[Ref | None]],
        given: tuple[Any, ...] = (),
    ) -> None:
        self._kernel, self._method = kernel, method
        self._arrays, self._given = arrays, given

    def prepared(self, array_of: Callable[[Ref], HostArray]) -> Callable[[], None]:
        """Returns the function that makes all steps.

        Args:
            array_of: Returns the array of a reference.
        """
        arrays = _mapped(self._arrays, array_of)
        return all_steps(self._kernel, self._method, arrays, self._given)


def _mapped(
    arrays: Mapping[str, Sequence[Ref | None]], change: Callable[[Ref], _T]
) -> dict[str, list[_T | None]]:
    return {
        name: [None if ref is None else change(ref) for ref in refs]
        for name, refs in arrays.items()
    }


def with_recurrences(calls: list[Call], outputs: Sequence[Ref], parents: Parents) -> list[Call]:
    """Returns calls with one call of a kernel in place of all steps of a layer.

    Results may differ by roundings. The same list is returned if no layer is found.

    Args:
        calls: The calls, which stay as they are.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
    """
    if len(calls) > _LONGEST_PROGRAM:
        return calls
    offers = _offers(calls)
    compiler = native_compiler()
    known = step_calls_of(compiler)
    given, calls = calls, with_moves(calls) if known else calls
    names = _names_in_steps(calls, known)
    if not offers and not can_repeat(calls, names):
        return given
    uses = Dependencies(calls, outputs, parents, depends_on_arguments_alone)
    found = _Finder(calls, uses, parents)
    layers: list[_Layer] = []
    taken: set[int] = set()

    def take(layer: _Layer) -> None:
        if taken.isdisjoint(layer.calls()):
            layers.append(layer)
            taken.update(layer.calls())

    for recurrence, kernel in offers:
        for layer in found.layers(recurrence, kernel):
            take(layer)
    # Declared ones first: kernels of their own take up more than a sequence of calls.
    for repeated in repeated_steps(calls, uses, names):
        for layer in found.repeated_layers(repeated, compiler):
            take(layer)
    groups = without_cycles([layer.calls() for layer in layers], uses)
    layers = [layer for layer in layers if layer.calls() in groups]
    if not layers:
        return given
    read = _read_by_others(calls, layers, outputs, parents)
    result: list[Call] = []
    for number in contracted_order(groups, uses):
        if number < len(calls):
            result.append(calls[number])
        else:
            result.append(_call_of(layers[number - len(calls)], calls, read))
    before = Plan(given, list(outputs), parents, set()).nbytes
    after = Plan(result, list(outputs), parents, set()).nbytes
    return given if after > before * _MOST_MEMORY + _SPARE_BYTES else result


def _offers(calls: list[Call]) -> list[tuple[Recurrence, Any]]:
    """Returns what the kernels of a program offer, each with the kernel."""
    methods = [recorded_method(call.function) for call in calls if call.kind is Kind.WHOLE]
    kernels = {id(method.kernel): method.kernel for method in methods if method is not None}
    return [
        (recurrence, kernel) for kernel in kernels.values() for recurrence in recurrences_of(kernel)
    ]


def _names_in_steps(calls: list[Call], known: Collection[str]) -> dict[int, str]:
    """Returns the names of calls that a compiler makes in steps, by their numbers."""
    if not known:
        return {}
    names: dict[int, str] = {}
    for i, call in enumerate(calls):
        name = _name(call)
        if name in known and depends_on_arguments_alone(call):
            results = list(leaves(call.out))
            if len(results) == 1 and isinstance(results[0], Ref):
                names[i] = cast(str, name)
    return names


def _name(call: Call) -> str | None:
    """Returns the name by which recurrences refer to a call."""
    if call.kwargs:
        return None
    if call.kind is Kind.UFUNC:
        is_ufunc = isinstance(call.function, numpy.ufunc)
        return f"numpy.{call.function.__name__}" if is_ufunc else None
    found = recorded_method(call.function) if call.kind is Kind.WHOLE else None
    return None if found is None else f"{found.operation.name}.{found.name}"


def _results(call: Call) -> tuple[Any, ...]:
    return call.out if type(call.out) is tuple else (call.out,)


class _Finder:
    """Finds the steps of layers among calls.

    Args:
        calls: The calls.
        uses: Which calls read the results of each.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
    """

    def __init__(self, calls: list[Call], uses: Dependencies, parents: Parents) -> None:
        self._calls = calls
        self._uses = uses
        self._parents = parents
        self._by_name: dict[str, list[int]] = defaultdict(list)
        self._readers: dict[Any, list[int]] = defaultdict(list)
        self._writers: dict[Buffer, set[int]] = defaultdict(set)
        for i, call in enumerate(calls):
            for ref in written(call):
                self._writers[ref.buffer].add(i)
            name = _name(call)
            if name is None or any([isinstance(x, Held) for x in leaves((call.args, call.out))]):
                continue
            self._by_name[name].append(i)
            for ref in references(call.args):
                self._readers[ref.place()].append(i)
        self._names = {i: name for name, found in self._by_name.items() for i in found}

    def layers(self, recurrence: Recurrence, kernel: Any) -> Iterator[_Layer]:
        """Yields each layer whose steps a kernel makes in one call."""
        steps: list[Step] = []
        for i in self._by_name.get(recurrence.calls[0].name, ()):
            step = self._step(i, recurrence)
            if step is not None and self._serves(step, kernel) and self._is_own(step, recurrence):
                steps.append(step)
        for layer in self._chained(steps, recurrence):
            found = _Layer(recurrence, kernel, layer)
            if _is_supported(found):
                yield found

    def repeated_layers(self, repeated: Repeated, kernel: Any) -> Iterator[_Layer]:
        """Yields each layer whose steps a compiler makes in one call."""
        recurrence = repeated.recurrence
        steps = [step for step in repeated.steps if self._is_own(step, recurrence)]
        for layer in self._chained(steps, recurrence):
            found = _Layer(recurrence, kernel, layer, is_derived=True)
            if _is_supported(found):
                yield found

    def _chained(self, steps: list[Step], recurrence: Recurrence) -> Iterator[list[Step]]:
        """Yields the steps that follow each other."""
        carried = dict(recurrence.carried)

        def key(step: Step, names: Sequence[str]) -> tuple[Any, ...]:
            return tuple([None if r is None else r.place() for r in map(step.values.get, names)])

        starts = {key(step, list(carried.values())): step for step in steps}
        following = {id(step): starts.get(key(step, list(carried))) for step in steps}
        later = {id(step) for step in following.values() if step is not None}
        for first in steps:
            if id(first) in later:
                continue
            layer = [first]
            while (after := following[id(layer[-1])]) is not None:
                if not self._continues(first, after, recurrence):
                    break
                layer.append(after)
            if len(layer) >= _FEWEST_STEPS and not self._reads_itself(layer, recurrence):
                yield layer

    def _reads_itself(self, layer: list[Step], recurrence: Recurrence) -> bool:
        """Returns whether a step gets a result of the layer other than what steps carry.

        A result that only steps of the layer read is not written.
        """
        numbers = [i for step in layer for i in step.numbers]
        own: dict[Buffer, list[tuple[int, int]]] = defaultdict(list)
        for i in numbers:
            for ref in references(self._calls[i].out):
                buffer, low, high = interval(ref, self._parents)
                own[buffer].append((low, high))
        arrays = _arrays(layer, recurrence)
        names = (*recurrence.inputs, *recurrence.fixed, *recurrence.carried.values())
        for ref in [ref for name in names for ref in arrays[name] if ref is not None]:
            buffer, low, high = interval(ref, self._parents)
            if any([low < stop and start < high for start, stop in own[buffer]]):
                return True
        return False

    def _step(self, first: int, recurrence: Recurrence) -> Step | None:
        """Returns the step that begins with a call; None if other calls follow."""
        values: dict[str, Ref | None] = {}
        numbers: list[int] = []
        for pattern in recurrence.calls:
            found = self._candidates(first, pattern, values, numbers)
            for i in found:
                bound = _bound(self._calls[i], pattern, values, recurrence)
                if bound is not None:
                    values = bound
                    numbers.append(i)
                    break
            else:
                return None
        return Step(tuple(numbers), values)

    def _candidates(
        self, first: int, pattern: StepCall, values: dict[str, Ref | None], numbers: list[int]
    ) -> list[int]:
        if not numbers:
            return [first]
        made = {id(r) for n in numbers for r in references(self._calls[n].out)}
        for name in pattern.arguments:
            ref = values.get(name) if isinstance(name, str) else None
            if ref is not None and id(ref) in made:
                readers = self._readers[ref.place()]
                return [i for i in readers if self._names[i] == pattern.name and i not in numbers]
        return []

    def _serves(self, step: Step, kernel: Any) -> bool:
        """Returns whether one of the calls of a step is a call of a kernel."""
        methods = [recorded_method(self._calls[i].function) for i in step.numbers]
        return any([method is not None and method.kernel is kernel for method in methods])

    def _is_own(self, step: Step, recurrence: Recurrence) -> bool:
        """Returns whether something else than its calls may make a step."""
        if len({self._calls[i].errors for i in step.numbers}) > 1:
            return False
        own = {*step.numbers}
        for number, pattern in zip(step.numbers, recurrence.calls, strict=True):
            for name in pattern.names_of_results():
                name = recurrence.whole(name)
                ref = step.values[name]
                assert ref is not None
                # Memory of its own, which nothing else writes.
                if ref.buffer.memory is not None or not self._writers[ref.buffer] <= own:
                    return False
                if name not in recurrence.results and not self._uses.readers[number] <= own:
                    return False
        return True

    def _continues(self, first: Step, step: Step, recurrence: Recurrence) -> bool:
        """Returns whether a step is like the first one of a layer."""
        errors = [self._calls[s.numbers[0]].errors for s in (first, step)]
        if errors[0] != errors[1]:
            return False
        for name, ref in step.values.items():
            other = first.values[name]
            if ref is None or other is None:
                if ref is not other and name not in recurrence.carried.values():
                    return False
                continue
            if name in recurrence.fixed and ref.place() != other.place():
                return False
            if (ref.shape, ref.strides, ref.dtype) != (other.shape, other.strides, other.dtype):
                return False
        return True


def _bound(
    call: Call, pattern: StepCall, values: dict[str, Ref | None], recurrence: Recurrence
) -> dict[str, Ref | None] | None:
    """Returns the arrays by their names, with those of another call; None if it does not fit."""
    outs = _results(call)
    results = pattern.names_of_results()
    if len(call.args) != len(pattern.arguments) or len(outs) != len(results):
        return None
    orders = [call.args]
    if pattern.name == "numpy.add":
        orders.append(call.args[::-1])
    for args in orders:
        bound = dict(values)
        pairs = [*zip(pattern.arguments, args, strict=True), *zip(results, outs, strict=True)]
        if all([_fits(name, value, bound, recurrence) for name, value in pairs]):
            return bound
    return None


def _fits(
    name: str | float | None, value: Any, bound: dict[str, Ref | None], recurrence: Recurrence
) -> bool:
    """Returns whether an array may have a name, and gives it the name."""
    if name == ANYTHING:
        return True
    if isinstance(name, (int, float)):
        return is_number(value, name)
    if name is None or value is None:
        is_missing = name is not None and name in recurrence.carried.values()
        if is_missing and name is not None and bound.setdefault(name, None) is not None:
            return False
        return value is None and (name is None or is_missing)
    if not isinstance(value, Ref):
        return False
    known = bound.setdefault(name, value)
    return known is not None and known.place() == value.place()


def _is_supported(layer: _Layer) -> bool:
    specs: dict[Any, ArraySpec] = {}

    def spec(ref: Ref) -> ArraySpec:
        return specs.setdefault(ref.place(), ArraySpec(ref.shape, ref.dtype, ref.is_contiguous()))

    specs_of_steps = _mapped(_arrays(layer.steps, layer.recurrence), spec)
    return supports_steps(layer.kernel, layer.recurrence, specs_of_steps, layer.given())


def _arrays(
    layer: list[Step], recurrence: Recurrence, read: set[Buffer] | None = None
) -> dict[str, list[Ref | None]]:
    """Returns the arrays of all steps by their names.

    Args:
        layer: The steps.
        recurrence: What they are.
        read: Memory that other calls read; None if all results are wanted.
    """
    arrays: dict[str, list[Ref | None]] = {
        name: [layer[0].values[name]] for name in (*recurrence.fixed, *recurrence.carried.values())
    }
    for name in recurrence.inputs:
        arrays[name] = [step.values[name] for step in layer]
    for name in recurrence.results:
        refs = [cast(Ref, step.values[name]) for step in layer]
        arrays[name] = [ref if read is None or ref.buffer in read else None for ref in refs]
    return arrays


def _read_by_others(
    calls: list[Call], layers: list[_Layer], outputs: Sequence[Ref], parents: Parents
) -> set[Buffer]:
    """Returns the memory that something else reads than the layer that writes it."""
    read = {ref.buffer for ref in outputs} | set(parents)
    taken = {i for layer in layers for i in layer.calls()}
    for i, call in enumerate(calls):
        if i not in taken:
            read.update([ref.buffer for ref in call.references()])
    for layer in layers:
        own = {r.buffer for i in layer.calls() for r in references(calls[i].out)}
        for refs in _arrays(layer.steps, layer.recurrence).values():
            read.update([r.buffer for r in refs if r is not None and r.buffer not in own])
    return read


def _call_of(layer: _Layer, calls: list[Call], read: set[Buffer]) -> Call:
    """Returns the call that makes all steps."""
    recurrence = layer.recurrence
    arrays = _arrays(layer.steps, recurrence, read)
    results = {name: arrays[name] for name in recurrence.results}
    others = [refs for name, refs in arrays.items() if name not in results]
    function = AllSteps(layer.kernel, recurrence.method, arrays, layer.given())
    errors = calls[layer.steps[0].numbers[0]].errors
    reads, writes = (
        tuple([ref for refs in group for ref in refs if ref is not None])
        for group in (others, results.values())
    )
    return Call(Kind.NATIVE, cast(Any, function), reads, {}, writes, errors)
