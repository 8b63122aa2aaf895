"""Which recorded calls have to follow which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import ModuleType

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves, references
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import is_pure

#: The reader of results after the last call.
END = -1

Parents = dict[Buffer, tuple[Buffer, int]]


def writes_its_outputs_alone(call: Call) -> bool:
    """Returns whether a call depends on its arguments and writes its outputs alone."""
    return call.kind in (Kind.UFUNC, Kind.OUT, Kind.NATIVE)


def depends_on_arguments_alone(call: Call) -> bool:
    """Returns whether a call gives the same results wherever it is made with the same arguments."""
    if call.kind is Kind.WHOLE:
        return is_pure(call.function)
    if call.kind in (Kind.ASSIGN, Kind.WRITE):
        # Methods of random number generators are bound to them.
        owner = getattr(call.function, "__self__", None)
        return owner is None or isinstance(owner, (numpy.ufunc, ModuleType))
    return writes_its_outputs_alone(call)


def interval(ref: Ref, parents: Parents) -> tuple[Buffer, int, int]:
    """Returns the memory in which an array lies, and its first byte and the one after its last.

    Args:
        ref: The array.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
    """
    buffer, offset = parents.get(ref.buffer, (ref.buffer, 0))
    steps = [(n - 1) * stride for n, stride in zip(ref.shape, ref.strides)]
    low = offset + ref.offset + sum([step for step in steps if step < 0])
    high = offset + ref.offset + sum([step for step in steps if step > 0])
    return buffer, low, high + ref.dtype.itemsize


class Dependencies:
    """Which calls have to follow which, and which calls read the results of each.

    Args:
        calls: The calls.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        is_free: Whether a call may change places with others that are not free, as far as the
            arrays allow it. Others, such as draws of random numbers, keep their order.

    Attributes:
        before: For each call, the calls that have to be made earlier.
        readers: For each call, the calls that read what it writes.
    """

    def __init__(
        self,
        calls: list[Call],
        outputs: Sequence[Ref],
        parents: Parents,
        is_free: Callable[[Call], bool] = writes_its_outputs_alone,
    ) -> None:
        self._parents = parents
        self.before: list[set[int]] = [set() for _ in calls]
        self.readers: list[set[int]] = [set() for _ in calls]
        #: Parts of each buffer with the number of the call that wrote or read them last.
        self._written: dict[Buffer, list[tuple[int, int, int]]] = {}
        self._read: dict[Buffer, list[tuple[int, int, int]]] = {}
        # Values that kernels keep, by the call that makes them.
        holders: dict[Held, int] = {}
        last = None
        for i, call in enumerate(calls):
            targets = list(written(call))
            for leaf in leaves((call.args, call.kwargs)):
                if isinstance(leaf, Held) and leaf in holders:
                    self.before[i].add(holders[leaf])
            holders.update({leaf: i for leaf in leaves(call.out) if isinstance(leaf, Held)})
            self._note_reads(i, references((call.args, call.kwargs)))
            if not writes_its_outputs_alone(call):
                # Calls may read their targets, too.
                self._note_reads(i, targets)
            if not is_free(call):
                if last is not None:
                    self.before[i].add(last)
                last = i
            for ref in targets:
                self._note_write(i, ref)
        for ref in outputs:
            self._note_reads(END, [ref])

    def _note_reads(self, i: int, refs: Iterable[Ref]) -> None:
        for ref in refs:
            buffer, low, high = interval(ref, self._parents)
            for start, stop, j in self._written.get(buffer, ()):
                if start < high and low < stop and j != i:
                    self.readers[j].add(i)
                    if i != END:
                        self.before[i].add(j)
            self._read.setdefault(buffer, []).append((low, high, i))

    def _note_write(self, i: int, ref: Ref) -> None:
        buffer, low, high = interval(ref, self._parents)
        for known in (self._written, self._read):
            parts = known.setdefault(buffer, [])
            self.before[i].update([j for a, b, j in parts if a < high and low < b and j != i])
            if ref.size * ref.dtype.itemsize == high - low:
                # Whatever comes later need not look at parts that are overwritten as a whole.
                parts[:] = [(a, b, j) for a, b, j in parts if not (low <= a and b <= high)]
        self._written[buffer].append((low, high, i))
        if buffer.memory is not None:
            self.readers[i].add(END)


class ReadyCalls:
    """The calls that can be made next, while they are made one by one.

    Args:
        before: For each call, the calls that have to be made earlier.

    Attributes:
        ready: Calls that are not made yet, whose earlier calls all are.
    """

    def __init__(self, before: Mapping[int, Collection[int]]) -> None:
        self._waiting = {i: len(earlier) for i, earlier in before.items()}
        self._followers: dict[int, list[int]] = defaultdict(list)
        for i, earlier in before.items():
            for j in earlier:
                self._followers[j].append(i)
        self.ready = {i for i, number in self._waiting.items() if not number}

    def make(self, i: int) -> list[int]:
        """Makes a call; returns the calls that are ready because of it.

        Args:
            i: A call that is ready.
        """
        self.ready.remove(i)
        found: list[int] = []
        for j in self._followers[i]:
            self._waiting[j] -= 1
            if not self._waiting[j]:
                found.append(j)
        self.ready.update(found)
        return found
