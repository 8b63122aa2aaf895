"""Loops of recorded calls: which calls can be fused, and the loop that several of them make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.backends.numpy.recording.memory import Ref, references
from chainer.backends.numpy.recording.simplify import is_elementwise
from chainer.backends.numpy.recording.sums import is_sum
from chainer.backends.numpy.recording.tape import Call
from chainer.backends.operations.loops import Loop, Sum
from chainer.core.typing import Shape

#: Functions whose results do not depend on how they are computed, and their names in loops. Others,
#: such as ``exp``, have approximations of NumPy's own.
_NAMES: dict[Any, str] = {
    numpy.add: "add",
    numpy.subtract: "subtract",
    numpy.multiply: "multiply",
    numpy.divide: "divide",
    numpy.sqrt: "sqrt",
    numpy.negative: "negative",
    numpy.positive: "positive",
    numpy.square: "square",
}

_DTYPES = (numpy.dtype("f"), numpy.dtype("d"))

#: Arrays of one loop: each takes a register for its address.
_MOST_ARRAYS = 24

#: A reference, or an array without axes that holds a number.
Operand = Any


def is_fusible(call: Call) -> bool:
    """Returns whether a call can be a part of a loop."""
    return LoopOfCalls.of(0, call) is not None


class LoopOfCalls:
    """Elementwise calls of one shape, or a sum.

    Attributes:
        numbers: Numbers of the calls.
        arrays: The arrays that are read and written.
        part: The loop, after :meth:`keep`.
    """

    part: Loop | Sum

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.arrays: list[Operand] = []
        self._calls: list[Call] = []
        self._sum: Sum | None = None

    @classmethod
    def of(cls, number: int, call: Call) -> LoopOfCalls | None:
        """Returns a loop of one call; None if there is none."""
        loop = cls()
        if is_sum(call):
            source, target = call.args[0], next(references(call.out))
            loop._sum = _sum_of(source, target, call.kwargs["axis"])
            if loop._sum is None:
                return None
            loop.numbers, loop._calls, loop.arrays = [number], [call], [source, target]
            return loop
        return loop if is_elementwise(call) and loop.add(number, call) else None

    def add(self, number: int, call: Call) -> bool:
        """Adds a call if it can be made in the same loop."""
        if self._sum is not None or not is_elementwise(call) or call.function not in _NAMES:
            return False
        target = call.out[0]
        if target.size == 0 or target.dtype not in _DTYPES:
            return False
        if self._calls and self._calls[0].out[0].shape != target.shape:
            return False
        calls = [*self._calls, call]
        found = _operands(calls)
        if found is None or len(found) > _MOST_ARRAYS or nest_of(target.shape, found) is None:
            return False
        self.numbers.append(number)
        self._calls = calls
        return True

    def keep(self, numbers: Sequence[int]) -> None:
        """Makes the loop.

        Args:
            numbers: Numbers of the calls whose results are written to memory.
        """
        if self._sum is not None:
            self.part = self._sum
            return
        arrays: dict[Any, Operand] = {}
        made: set[Any] = set()
        for call in self._calls:
            for operand in call.args:
                if place_of(operand) not in made:
                    arrays.setdefault(place_of(operand), operand)
            made.add(place_of(call.out[0]))
        loads = tuple(range(len(arrays)))
        values = {place: i for i, place in enumerate(arrays)}
        steps: list[tuple[str, tuple[int, ...]]] = []
        stores: dict[Any, int] = {}
        for number, call in zip(self.numbers, self._calls, strict=True):
            inputs = tuple([values[place_of(operand)] for operand in call.args])
            name = _NAMES[call.function]
            if name == "square":
                name, inputs = "multiply", inputs * 2
            target = call.out[0]
            place = place_of(target)
            values[place] = len(loads) + len(steps)
            steps.append((name, inputs))
            if number in numbers:
                arrays.setdefault(place, target)
                stores[place] = values[place]
            else:
                stores.pop(place, None)
        self.arrays = list(arrays.values())
        indexes = {place: i for i, place in enumerate(arrays)}
        nest = nest_of(self._calls[0].out[0].shape, self.arrays)
        assert nest is not None
        self.part = Loop(
            *(nest[0], self._calls[0].out[0].dtype.name, nest[1], loads, tuple(steps)),
            tuple([(value, indexes[place]) for place, value in stores.items()]),
        )


Entry = LoopOfCalls


def place_of(operand: Operand) -> Any:
    """Returns what operands have in common that are the same elements."""
    return operand.place() if isinstance(operand, Ref) else id(operand)


def _operands(calls: list[Call]) -> list[Operand] | None:
    """Returns the arrays of calls; None if one overlaps a result without being the same."""
    found: dict[Any, Operand] = {}
    dtype = calls[0].out[0].dtype
    for call in calls:
        for operand in (*call.args, *call.out):
            if not isinstance(operand, (Ref, numpy.ndarray)) or operand.dtype != dtype:
                return None
            if not isinstance(operand, Ref) and operand.ndim:
                return None
            found[place_of(operand)] = operand
    targets = {place_of(call.out[0]): call.out[0] for call in calls}
    for place, target in targets.items():
        for other_place, other in found.items():
            if other_place != place and isinstance(other, Ref) and overlap(target, other):
                return None
    return list(found.values())


def overlap(a: Ref, b: Ref) -> bool:
    """Returns whether two arrays may share memory."""
    if a.buffer is not b.buffer:
        return False
    return a.offset < b.offset + b.extent() and b.offset < a.offset + a.extent()


def nest_of(shape: Shape, operands: Sequence[Operand]) -> tuple[Shape, tuple[Shape, ...]] | None:
    """Returns lengths of as few nested loops as possible, and the strides of each array.

    Returns None if the innermost loop would have other strides than one element or none.
    """
    rows: list[list[int]] = []
    for operand in operands:
        missing = len(shape) - len(operand.shape)
        if missing < 0 or min(operand.strides, default=0) < 0:
            return None
        strides = [0] * missing + [
            0 if n == 1 else stride for n, stride in zip(operand.shape, operand.strides)
        ]
        rows.append(strides)
    itemsize = operands[0].dtype.itemsize
    axes = [i for i, n in enumerate(shape) if n > 1]
    # The innermost axis is the one along which elements are neighbors.
    axes.sort(key=lambda i: -max([row[i] for row in rows]))
    lengths: list[int] = []
    joined: list[list[int]] = [[] for _ in rows]
    for i in axes:
        n = shape[i]
        if lengths and all([s[-1] == row[i] * n for s, row in zip(joined, rows)]):
            lengths[-1] *= n
            for s, row in zip(joined, rows):
                s[-1] = row[i]
        else:
            lengths.append(n)
            for s, row in zip(joined, rows):
                s.append(row[i])
    if any([s and s[-1] not in (0, itemsize) for s in joined]):
        return None
    return tuple(lengths), tuple([tuple(s) for s in joined])


def _sum_of(source: Ref, target: Ref, axis: Any) -> Sum | None:
    """Returns the loop of a sum; None if its order is not that of three nested axes."""
    ndim, itemsize = len(source.shape), source.dtype.itemsize
    if source.dtype not in _DTYPES or source.size == 0 or not target.is_contiguous():
        return None
    if not source.is_contiguous() or source.buffer is target.buffer:
        return None
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(range(ndim) if axis is None else [a % ndim for a in given])
    if not axes or axes[-1] - axes[0] != len(axes) - 1:
        return None
    lengths = [1, 1, 1]
    for i, n in enumerate(source.shape):
        lengths[0 if i < axes[0] else 1 if i <= axes[-1] else 2] *= n
    outer, length, inner = lengths
    strides = (length * inner * itemsize, inner * itemsize, itemsize)
    return Sum(
        *((outer, length, inner), source.dtype.name),
        (strides, (inner * itemsize, itemsize)),
    )
