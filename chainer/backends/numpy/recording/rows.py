"""Places of rows: arrays of single calls that lie one after the other for a joined call."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy

from chainer.backends.numpy.recording.dependencies import Parents
from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.core.arrays.kernel import JoinedRows


def first_rows(ref: Ref, axis: int) -> Ref:
    """Returns an array with the axis of the rows in front; of a matrix, that is its transposition.

    Args:
        ref: The array.
        axis: The axis of the rows: 0, or 1 of a matrix.
    """
    if axis == 0:
        return ref
    array = None if ref.array is None else ref.array.T
    return Ref(ref.buffer, ref.offset, ref.shape[::-1], ref.strides[::-1], ref.dtype, array)


class RowPlaces:
    """Decides which arrays lie one after the other.

    Args:
        calls: The calls.
        outputs: References that are read after the last call, which keep their memory.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.

    Attributes:
        placed: The buffers that lie within others because of this object.
    """

    def __init__(self, calls: list[Call], outputs: Sequence[Ref], parents: Parents) -> None:
        self._fixed = {*parents, *[b for b, _ in parents.values()], *[r.buffer for r in outputs]}
        self._written: dict[Buffer, int] = {}
        for i, call in enumerate(calls):
            for ref in written(call):
                self._written.setdefault(ref.buffer, i)
        self._lists: list[list[Buffer]] = []
        self._list_of: dict[Buffer, int] = {}
        self.placed: Parents = {}

    def ordered(self, calls: Sequence[Call], rows: JoinedRows) -> list[Call]:
        """Returns calls in the order of their rows.

        Rows that lie one after the other already keep their order. Others are in the order in which
        they were computed, whatever the order of the calls: a backward pass multiplies the rows of
        the last step first.

        Args:
            calls: The calls of a group.
            rows: Which arguments have rows.
        """
        for i in rows.arguments:
            buffers = [call.args[i].buffer for call in calls]
            lists = {self._list_of.get(b) for b in buffers}
            (number,) = lists if len(lists) == 1 else (None,)
            if number is not None:
                places = {b: n for n, b in enumerate(self._lists[number])}
                return sorted(calls, key=lambda call, i=i: places[call.args[i].buffer])

        def origin(call: Call) -> tuple[int, int]:
            refs = [ref for i in rows.arguments for ref in references(call.args[i])]
            return min([(self._written.get(ref.buffer, -1), ref.offset) for ref in refs])

        return sorted(calls, key=origin)

    def place(self, refs: Sequence[Ref], is_result: bool = False) -> Rows:
        """Returns the rows of some arrays, which lie one after the other where that is possible.

        Args:
            refs: The arrays, with the axis of rows in front.
            is_result: Whether the joined call writes them.
        """
        adjacent = not is_result and _are_adjacent(refs)
        lies = adjacent or (self._can_move(refs) and self._listed([ref.buffer for ref in refs]))
        return Rows(refs, lies, None if adjacent or not lies else self)

    def copied(self, refs: Sequence[Ref], is_result: bool = False) -> int:
        """Returns the number of elements to copy for a joined call, as far as that is known now.

        Args:
            refs: The arrays, with the axis of rows in front.
            is_result: Whether the joined call writes them.
        """
        if (not is_result and _are_adjacent(refs)) or self._can_move(refs):
            return 0
        return sum([ref.size for ref in refs])

    def _can_move(self, refs: Sequence[Ref]) -> bool:
        buffers = {ref.buffer for ref in refs}
        return len(buffers) == len(refs) and all([self._is_movable(r) for r in refs])

    def _is_movable(self, ref: Ref) -> bool:
        buffer = ref.buffer
        return ref.is_whole() and buffer.memory is None and buffer not in self._fixed

    def _listed(self, buffers: list[Buffer]) -> bool:
        """Puts buffers in a list in their order; returns False if they are in another order."""
        numbers = {self._list_of[b] for b in buffers if b in self._list_of}
        if not numbers:
            self._lists.append(list(buffers))
        elif len(numbers) == 1:
            (number,) = numbers
            joined = _overlapped(self._lists[number], buffers)
            if joined is None:
                return False
            self._lists[number] = joined
        else:
            return False
        number = numbers.pop() if numbers else len(self._lists) - 1
        self._list_of.update(dict.fromkeys(buffers, number))
        return True

    def finish(self) -> Parents:
        """Returns for each buffer of a list the memory of all, and the offset in bytes."""
        for buffers in self._lists:
            whole = Buffer(sum([b.nbytes for b in buffers]))
            offset = 0
            for buffer in buffers:
                self.placed[buffer] = whole, offset
                offset += buffer.nbytes
        return self.placed


class Rows:
    """The rows of several arrays.

    Args:
        refs: The arrays.
        lies: Whether they lie one after the other, so that nothing is copied.
        places: Knows their memory; None if it is not one of its lists.
    """

    def __init__(self, refs: Sequence[Ref], lies: bool, places: RowPlaces | None) -> None:
        first = refs[0]
        self._refs = refs
        self._lies = lies
        self._places = places
        self._shape = (sum([ref.shape[0] for ref in refs]), *first.shape[1:])
        itemsize = first.dtype.itemsize
        inner = [prod(self._shape[i + 1 :]) * itemsize for i in range(len(self._shape))]
        self._strides = tuple(inner)
        self._copy = Buffer(prod(self._shape) * itemsize)

    def whole(self) -> Ref:
        """Returns the array of all rows."""
        first = self._refs[0]
        buffer, offset = first.buffer, first.offset
        if not self._lies:
            buffer, offset = self._copy, 0
        elif self._places is not None:
            buffer, offset = self._places.placed[first.buffer]
        return Ref(buffer, offset, self._shape, self._strides, first.dtype)

    def _parts(self) -> list[Ref]:
        whole = self.whole()
        starts = [sum([ref.shape[0] for ref in self._refs[:i]]) for i in range(len(self._refs))]
        step = self._strides[0]
        return [
            Ref(whole.buffer, start * step, ref.shape, self._strides, ref.dtype)
            for start, ref in zip(starts, self._refs, strict=True)
        ]

    def copies_before(self) -> list[Call]:
        """Returns the calls that bring the rows together."""
        if self._lies:
            return []
        return [_copy(ref, part) for ref, part in zip(self._refs, self._parts(), strict=True)]

    def copies_after(self) -> list[Call]:
        """Returns the calls that bring the rows to the single arrays."""
        if self._lies:
            return []
        return [_copy(part, ref) for ref, part in zip(self._refs, self._parts(), strict=True)]


def _copy(source: Ref, target: Ref) -> Call:
    return Call(Kind.UFUNC, numpy.positive, (source,), {}, (target,))


def _are_adjacent(refs: Sequence[Ref]) -> bool:
    """Returns whether arrays lie one after the other already."""
    end = refs[0].offset
    for ref in refs:
        if ref.buffer is not refs[0].buffer or ref.offset != end or not ref.is_contiguous():
            return False
        end += ref.size * ref.dtype.itemsize
    return True


def _overlapped(first: list[Buffer], second: list[Buffer]) -> list[Buffer] | None:
    """Returns a list that contains two lists with common elements, each in its order."""
    if second[0] in first:
        start = first.index(second[0])
        common = first[start : start + len(second)]
        rest = second[len(common) :]
        if second[: len(common)] == common and not {*rest} & {*first}:
            return first + rest
    elif first[0] in second:
        return _overlapped(second, first)
    return None
