"""Updates of all parameters at once: one sequence of calls over flat memory.

A step updates each parameter by a dozen calls of NumPy. Updates of one rule with the same
hyperparameters become one sequence: gradients, and states that nothing else refers to, lie one
after the other in memory, so that one call serves all of them. Parameters stay where users find
them; calls that need one are made for each parameter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Ref, replaced
from chainer.backends.numpy.recording.tape import (
    Call,
    Kind,
    Tape,
    TapeArray,
    bare,
    current,
)
from chainer.backends.numpy.recording.whole_calls import released
from chainer.core.arrays.recorder import NotRecordableError, VaryingNumber
from chainer.core.typing import DType
from chainer.core.utils.placed_memory import PAGE, zeros_at

#: Elements that are updated in one block, if there are more than :data:`LARGEST_BLOCK`. Six arrays
#: of this length in float32 stay in a second-level cache of 512 kB.
BLOCK = 1 << 14

#: Up to this number of elements, one block is faster: each block costs a dozen calls.
LARGEST_BLOCK = 3 << 14

#: Up to this number of elements, states are moved so that they lie one after the other. More take
#: so many blocks that calls for single parameters cost nothing beside them, while the old and the
#: new states together would take twice the memory for a time.
MOST_MOVED = 1 << 20


class UpdateCalls:
    """A kernel of updates whose calls are put on the tape as they are.

    Args:
        kernel: Kernel for plain arrays.
        recording: The same kernel for arrays of recordings; None if its steps cannot be recorded.
    """

    def __init__(self, kernel: Any, recording: Any) -> None:
        self.kernel = kernel
        self.recording = recording

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def update_many(self, rows: Sequence[Sequence[Any]], scalars: Any) -> None:
        """Updates parameters, see the operation; each is a call on the tape of its own."""
        plain = [bare(tuple(row)) for row in rows]
        self.kernel.update_many(plain, released(scalars))
        if current.tape is not None:
            for row in plain:
                current.tape.add(Kind.UPDATE, self.update_many, row, {"scalars": scalars})


class FlatUpdates:
    """Replaces updates by calls over flat memory.

    Args:
        tape: The tape, whose numbers the calls share.
        calls: Recorded calls.
        owned: Arrays whose values may be moved to other memory, by the identity of their owner.

    Attributes:
        moved: Pairs of arrays: the old one, and that which holds the values from now on.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        whole: Updates that stay calls of a kernel.
    """

    def __init__(self, tape: Tape, calls: list[Call], owned: dict[int, Any]) -> None:
        self._tape = tape
        self._calls = calls
        self._owned = owned
        self.moved: list[tuple[Any, Any]] = []
        self.parents: dict[Buffer, tuple[Buffer, int]] = {}
        self.whole: list[Call] = []
        self._uses = Counter([b for call in calls for b in {r.buffer for r in call.references()}])

    def expanded(self) -> list[Call]:
        """Returns the calls, with calls of ufuncs in place of updates."""
        result: list[Call] = []
        group: list[Call] = []
        for call in self._calls:
            if group and not self._joins(group, call):
                result += self._expand(group)
                group = []
            if call.kind is Kind.UPDATE:
                group.append(call)
            else:
                result.append(call)
        return result + (self._expand(group) if group else [])

    def _joins(self, group: list[Call], call: Call) -> bool:
        """Returns whether a call is an update that can be made together with others."""
        if call.kind is not Kind.UPDATE:
            return False
        first = group[0]
        same = _updates(call) is _updates(first) and _scalars(call) == _scalars(first)
        if not same or [_dtype(a) for a in call.args] != [_dtype(a) for a in first.args]:
            return False
        # A parameter that is updated twice, or a state that two rules share.
        known = {r.buffer for other in group for r in other.references()}
        return not any([r.buffer in known for r in call.references()])

    def _expand(self, group: list[Call]) -> list[Call]:
        updates = _updates(group[0])
        if updates.recording is None:
            calls = [_whole(updates, rows, group[0]) for rows in _divided(group)]
            self.whole += calls
            return calls
        arrays = [ref for call in group for ref in call.args if ref is not None]
        kernel_calls, places = self._trace(updates.recording, group[0])
        if kernel_calls is None or not all([ref.is_contiguous() for ref in arrays]):
            return [each for call in group for each in self._in_steps(call)]
        return self._flat(group, kernel_calls, places)

    def _in_steps(self, call: Call) -> list[Call]:
        """Returns the calls of a kernel for one update, of arrays as they are."""
        updates = _updates(call)
        # The values do not matter here: the calls are wanted.
        stand_ins = [None if ref is None else numpy.ones(ref.shape, ref.dtype) for ref in call.args]
        calls, buffers = self._recorded(updates.recording, stand_ins, call.kwargs["scalars"])
        refs = {
            buffer: ref
            for buffer, ref in zip(buffers, call.args, strict=True)
            if buffer is not None
        }

        def place(ref: Ref) -> Ref:
            own = refs.get(ref.buffer)
            if own is not None and own.shape != ref.shape:
                raise NotRecordableError("an update takes parameters apart")
            return ref if own is None else own

        for each in calls:
            each.args, each.kwargs = replaced((each.args, each.kwargs), place)
            each.out = replaced(each.out, place)
        return calls

    def _trace(self, kernel: Any, call: Call) -> tuple[list[Call] | None, dict[Buffer, int]]:
        """Returns the calls for arrays of one element, and the place of each argument.

        Returns None if they are something else than elementwise calls.
        """
        stand_ins = [None if ref is None else numpy.ones(1, ref.dtype) for ref in call.args]
        calls, buffers = self._recorded(kernel, stand_ins, call.kwargs["scalars"])
        places = {buffer: i for i, buffer in enumerate(buffers) if buffer is not None}
        for each in calls:
            if not (each.kind is Kind.UFUNC and isinstance(each.function, numpy.ufunc)):
                return None, places
            if each.function.signature is not None:
                return None, places
            if not all([ref.shape in ((), (1,)) for ref in each.references()]):
                return None, places
        return calls, places

    def _recorded(
        self, kernel: Any, arrays: Sequence[Any], scalars: Any
    ) -> tuple[list[Call], list[Buffer | None]]:
        """Runs a kernel on arrays and returns its calls, and the buffers of the arrays."""
        tape = Tape()
        tape.numbers = self._tape.numbers
        for array in arrays:
            if array is not None:
                tape.buffers.made(array)
        buffers = [None if array is None else tape.buffers.of(array) for array in arrays]
        current.tape = tape
        try:
            with numpy.errstate(all="ignore"):
                row = [None if a is None else a.view(TapeArray) for a in arrays]
                kernel.update_many([row], scalars)
        finally:
            current.tape = None
        return tape.calls, buffers

    def _flat(
        self, group: list[Call], kernel_calls: list[Call], places: dict[Buffer, int]
    ) -> list[Call]:
        """Returns the calls of a kernel over all arrays of a group, block by block."""
        sizes = [call.args[0].size for call in group]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        total = sum(sizes)
        if total == 0:
            return []
        columns = [
            None if group[0].args[i] is None else self._column(group, starts, total, i)
            for i in range(len(group[0].args))
        ]
        length = total if total <= LARGEST_BLOCK else BLOCK
        scratch: dict[Buffer, Buffer] = {}

        def operand(ref: Ref, start: int, stop: int) -> Ref:
            """Returns the elements of a block of what represents one element in the trace."""
            if ref.buffer in places:
                column = columns[places[ref.buffer]]
                assert column is not None
                return column(start, stop)
            if ref.buffer.memory is not None:
                return ref  # a number
            if ref.buffer not in scratch:
                scratch[ref.buffer] = Buffer(length * ref.dtype.itemsize)
            low = start % length
            itemsize = ref.dtype.itemsize
            return Ref(scratch[ref.buffer], low * itemsize, (stop - start,), (itemsize,), ref.dtype)

        def piece(call: Call, start: int, stop: int) -> Call:
            """Returns a call of the trace for the elements of a block."""

            def place(ref: Ref) -> Ref:
                return operand(ref, start, stop)

            args, kwargs = replaced((call.args, call.kwargs), place)
            return Call(Kind.UFUNC, call.function, args, kwargs, replaced(call.out, place))

        result: list[Call] = []
        for start in range(0, total, length):
            stop = min(start + length, total)
            for call in kernel_calls:
                used = {places.get(ref.buffer) for ref in call.references()}
                # A call that reads or writes one of the parameters is made for each of them.
                if any([i is not None and isinstance(columns[i], _Parts) for i in used]):
                    pieces = _overlaps(starts, sizes, start, stop)
                else:
                    pieces = [(start, stop)]
                result += [piece(call, low, high) for low, high in pieces]
        return result

    def _column(
        self, group: list[Call], starts: list[int], total: int, index: int
    ) -> _Flat | _Parts:
        """Returns what gives the elements of one argument of all updates."""
        refs = [call.args[index] for call in group]
        dtype = refs[0].dtype
        adjacent = _adjacent(refs)
        if adjacent is not None:
            return _Flat(adjacent)
        if total <= MOST_MOVED and all([self._is_movable_state(ref) for ref in refs]):
            # Calls on two states at equal places of a page take up to 1.4 times as long.
            memory = zeros_at(total * dtype.itemsize, index * (PAGE // 4)).view(dtype)
            for ref, start in zip(refs, starts, strict=True):
                new = memory[start : start + ref.size].reshape(ref.shape)
                new[...] = ref.array
                self.moved.append((self._owned[id(ref.buffer.memory)], new))
            return _Flat(self._tape.buffers.refer(memory))
        if all([r.is_whole() and r.buffer.memory is None for r in refs]):
            buffer = Buffer(total * dtype.itemsize)
            for ref, start in zip(refs, starts, strict=True):
                self.parents[ref.buffer] = buffer, start * dtype.itemsize
            return _Flat(Ref(buffer, 0, (total,), (dtype.itemsize,), dtype))
        return _Parts(refs, starts)

    def _is_movable_state(self, ref: Ref) -> bool:
        state = self._owned.get(id(ref.buffer.memory))
        if state is None or self._uses[ref.buffer] > 1:
            return False
        return ref.size == state.size and ref.is_contiguous()


class _Flat:
    """Elements that lie one after the other."""

    def __init__(self, ref: Ref) -> None:
        self._ref = ref

    def __call__(self, start: int, stop: int) -> Ref:
        return self._ref.piece(start, stop)


class _Parts:
    """Elements of several arrays; a piece must not cross the border of two."""

    def __init__(self, refs: list[Ref], starts: list[int]) -> None:
        self._refs = refs
        self._starts = starts

    def __call__(self, start: int, stop: int) -> Ref:
        for ref, first in zip(self._refs, self._starts, strict=True):
            if first <= start < first + ref.size:
                return ref.piece(start - first, stop - first)
        raise IndexError(start)


def _overlaps(starts: list[int], sizes: list[int], start: int, stop: int) -> list[tuple[int, int]]:
    """Returns the parts of a block by array; arrays outside of the block have none."""
    pieces = [
        (max(start, first), min(stop, first + size))
        for first, size in zip(starts, sizes, strict=True)
    ]
    return [(low, high) for low, high in pieces if low < high]


def _adjacent(refs: list[Ref]) -> Ref | None:
    """Returns one array of the elements of several, if they lie one after the other."""
    first = refs[0]
    end = first.offset
    for ref in refs:
        if ref.buffer is not first.buffer or ref.offset != end:
            return None
        end += ref.size * ref.dtype.itemsize
    itemsize = first.dtype.itemsize
    # Made from the memory of the buffer, since no array covers them all.
    return Ref(
        first.buffer, first.offset, ((end - first.offset) // itemsize,), (itemsize,), first.dtype
    )


def _divided(group: list[Call]) -> list[list[Any]]:
    """Returns the arguments of updates: small parameters together, each large one alone."""
    small: list[Any] = []
    large: list[list[Any]] = []
    for call in group:
        if call.args[0].size >= LARGEST_BLOCK:
            large.append([call.args])
        else:
            small.append(call.args)
    return [small, *large] if small else large


def _whole(updates: UpdateCalls, rows: list[Any], call: Call) -> Call:
    """Returns an update of several parameters by a call of the kernel."""
    return Call(Kind.WHOLE, updates.kernel.update_many, (rows,), call.kwargs, None, call.errors)


def _updates(call: Call) -> UpdateCalls:
    return cast(Any, call.function).__self__


def _dtype(ref: Ref | None) -> DType | None:
    return None if ref is None else ref.dtype


def _scalars(call: Call) -> Any:
    """Returns what calls with the same scalars have in common."""

    def part(value: Any) -> Any:
        if isinstance(value, VaryingNumber):
            return id(value)
        if isinstance(value, tuple):
            return tuple([part(v) for v in value])
        return type(value), value

    return part(call.kwargs["scalars"])
