"""Places for intermediate results: memory is used again as soon as a result is not needed."""

from __future__ import annotations

from bisect import insort

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves, references
from chainer.backends.numpy.recording.tape import Call, Kind

#: Buffers begin at multiples of a cache line, as large arrays of NumPy do.
ALIGNMENT = 64


class Plan:
    """Offsets of all intermediate results in one piece of memory.

    Args:
        calls: The calls, in order.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
        outside: Buffers that have memory of their own in each call.

    Attributes:
        nbytes: Size of the memory.
        offsets: Offset of each buffer.
    """

    def __init__(
        self,
        calls: list[Call],
        outputs: list[Ref],
        parents: dict[Buffer, tuple[Buffer, int]],
        outside: set[Buffer],
    ) -> None:
        self._parents = parents
        self._outside = outside
        self.nbytes = 0
        self.offsets: dict[Buffer, int] = {}
        self._free: list[tuple[int, int]] = []  # offset and size, sorted by offset
        last = self._last_uses(calls, outputs)
        expiring: dict[int, list[Buffer]] = {}
        for buffer, index in last.items():
            expiring.setdefault(index, []).append(buffer)
        self._sizes: dict[Buffer, int] = {}
        for index, call in enumerate(calls):
            taken = self._in_place(call, index, last)
            for ref in call.references():
                buffer = self.outer(ref.buffer)
                if self._is_planned(buffer) and buffer not in self.offsets:
                    self._place(buffer)
            for buffer in expiring.get(index, ()):
                if buffer not in taken:
                    self._release(self.offsets[buffer], self._sizes[buffer])
        for buffer, (parent, offset) in parents.items():
            if parent in self.offsets:
                self.offsets[buffer] = self.offsets[parent] + offset

    def _is_planned(self, buffer: Buffer) -> bool:
        return buffer.memory is None and buffer not in self._outside

    def outer(self, buffer: Buffer) -> Buffer:
        """Returns the memory in which a buffer lies."""
        parent = self._parents.get(buffer)
        return buffer if parent is None else parent[0]

    def _last_uses(self, calls: list[Call], outputs: list[Ref]) -> dict[Buffer, int]:
        """Returns the number of the last call that needs each buffer."""
        last: dict[Buffer, int] = {}
        # A kernel may keep its arguments and results for later, so their memory stays in use.
        holding: dict[Held, set[Buffer]] = {}
        for index, call in enumerate(calls):
            buffers = {self.outer(ref.buffer) for ref in call.references()}
            for held in leaves((call.args, call.kwargs)):
                if isinstance(held, Held):
                    buffers |= holding.get(held, set())
            for held in leaves(call.out):
                if isinstance(held, Held):
                    holding[held] = buffers
            for buffer in buffers:
                if self._is_planned(buffer):
                    last[buffer] = index
        for ref in outputs:
            if self.outer(ref.buffer) in last:
                last[self.outer(ref.buffer)] = len(calls)
        return last

    def _in_place(self, call: Call, index: int, last: dict[Buffer, int]) -> set[Buffer]:
        """Lets an elementwise call write its result to an argument that it needs last."""
        if call.kind is not Kind.UFUNC or not isinstance(call.function, numpy.ufunc):
            return set()
        targets = list(references(call.out))
        if call.function.signature is not None or len(targets) != 1 or call.kwargs:
            return set()
        target = targets[0]
        buffer = target.buffer
        if not self._is_planned(buffer) or buffer in self._parents or buffer in self.offsets:
            return set()
        arguments = list(references(call.args))
        for ref in arguments:
            source = ref.buffer
            same = (ref.shape, ref.strides, ref.dtype, ref.offset) == (
                *(target.shape, target.strides, target.dtype, target.offset),
            )
            # Of several references to the memory, one might be laid out in another way.
            alone = sum([other.buffer is source for other in arguments]) == 1
            fits = self._sizes.get(source) == _rounded(buffer.nbytes)
            if same and alone and fits and last.get(source) == index:
                self.offsets[buffer] = self.offsets[source]
                self._sizes[buffer] = self._sizes[source]
                return {source}
        return set()

    def _place(self, buffer: Buffer) -> None:
        size = _rounded(buffer.nbytes)
        # The smallest free piece that is large enough.
        fitting = [piece for piece in self._free if piece[1] >= size]
        if fitting:
            offset, free = min(fitting, key=lambda piece: (piece[1], piece[0]))
            self._free.remove((offset, free))
            if free > size:
                insort(self._free, (offset + size, free - size))
        else:
            offset = self.nbytes
            if self._free and sum(self._free[-1]) == self.nbytes:
                offset = self._free.pop()[0]
            self.nbytes = offset + size
        self.offsets[buffer] = offset
        self._sizes[buffer] = size

    def _release(self, offset: int, size: int) -> None:
        """Makes a piece free, joined with free pieces beside it."""
        if size == 0:
            return
        insort(self._free, (offset, size))
        i = self._free.index((offset, size))
        if i + 1 < len(self._free) and offset + size == self._free[i + 1][0]:
            size += self._free.pop(i + 1)[1]
            self._free[i] = offset, size
        if i and sum(self._free[i - 1]) == offset:
            self._free[i - 1] = self._free[i - 1][0], self._free[i - 1][1] + size
            del self._free[i]


def _rounded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
