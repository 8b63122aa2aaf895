"""Loops of recorded calls: which calls can be fused, and the loop that several of them make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy

from chainer.backends.numpy.recording.memory import Ref, references
from chainer.backends.numpy.recording.simplify import is_elementwise
from chainer.backends.numpy.recording.sums import is_sum
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.operations.loops import Loop, Sum
from chainer.core.typing import DType, HostArray, Shape

_ndarray: Any = numpy.ndarray

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
    numpy.absolute: "absolute",
    numpy.square: "square",
    numpy.maximum: "maximum",
    numpy.minimum: "minimum",
}

#: The same, of which the results are truth values.
_COMPARISONS: dict[Any, str] = {
    numpy.greater: "greater",
    numpy.greater_equal: "greater_equal",
    numpy.less: "less",
    numpy.less_equal: "less_equal",
    numpy.equal: "equal",
    numpy.not_equal: "not_equal",
}

#: Functions that copy numbers, or make numbers of truth values. A call whose result shares memory
#: with its argument is not on the tape.
_CONVERSIONS = (_ndarray.astype, _ndarray.copy)

_DTYPES = (numpy.dtype("f"), numpy.dtype("d"))
_BOOL = numpy.dtype(bool)

#: Arrays of one loop: each takes a register for its address.
_MOST_ARRAYS = 24


#: A reference, or an array without axes that holds a number.
Operand = Any


class _Step(NamedTuple):
    """An elementwise call.

    Attributes:
        name: Its operation in a loop, ``'square'`` or ``'clip'``.
        inputs: Its operands.
        target: The array that it writes.
    """

    name: str
    inputs: tuple[Operand, ...]
    target: Ref


def _step_of(call: Call) -> _Step | None:
    """Returns the step of a call in a loop; None if there is none."""
    step = _candidate(call)
    if step is None or not all([isinstance(x, (Ref, numpy.ndarray)) for x in step.inputs]):
        return None
    floats = {x.dtype for x in step.inputs} - {_BOOL}
    if step.name == "where":
        if step.inputs[0].dtype != _BOOL or any([x.dtype == _BOOL for x in step.inputs[1:]]):
            return None
    elif not floats and (step.name != "positive" or is_elementwise(call)):
        return None  # arithmetic of truth values is logic
    if step.name in _COMPARISONS.values():
        is_right = step.target.dtype == _BOOL and not any([x.dtype == _BOOL for x in step.inputs])
    else:
        is_right = step.target.dtype in _DTYPES and floats <= {step.target.dtype}
    return step if is_right and floats <= {*_DTYPES} else None


def _candidate(call: Call) -> _Step | None:
    function, out = call.function, call.out
    if is_elementwise(call):
        if function is numpy.reciprocal:
            return _Step("divide", (_array_of(1, out[0].dtype), *call.args), out[0])
        name = _NAMES.get(function) or _COMPARISONS.get(function)
        return None if name is None else _Step(name, tuple(call.args), out[0])
    if not isinstance(out, Ref):
        return None
    if call.kind is Kind.ASSIGN and function is numpy.where and len(call.args) == 3:
        condition, *values = call.args
        return _Step("where", (condition, *[_number(v, out.dtype) for v in values]), out)
    if call.kind is Kind.ASSIGN and function in _CONVERSIONS:
        return _Step("positive", call.args[:1], out)
    if call.kind is Kind.OUT and function is numpy.clip and not call.kwargs and len(call.args) == 3:
        return _Step("clip", tuple([_number(v, out.dtype) for v in call.args]), out)
    return None


def _number(value: Any, dtype: DType) -> Operand:
    """Returns a Python number as an array, always the same one for the same number."""
    if type(value) not in (int, float):
        return value
    return _array_of(repr(value), dtype) if type(value) is float else _array_of(value, dtype)


@cache
def _array_of(value: str | int, dtype: DType) -> HostArray:
    # A text tells zeros of different signs apart.
    return numpy.array(float(value), dtype)


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
        self._steps: list[_Step] = []
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
            loop.numbers, loop.arrays = [number], [source, target]
            return loop
        return loop if loop.add(number, call) else None

    def add(self, number: int, call: Call) -> bool:
        """Adds a call if it can be made in the same loop."""
        step = None if self._sum is not None else _step_of(call)
        if step is None or step.target.size == 0:
            return False
        if self._steps and self._steps[0].target.shape != step.target.shape:
            return False
        steps = [*self._steps, step]
        found = _operands(steps)
        if found is None or len(found) > _MOST_ARRAYS or nest_of(step.target.shape, found) is None:
            return False
        self.numbers.append(number)
        self._steps = steps
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
        for step in self._steps:
            for operand in step.inputs:
                if place_of(operand) not in made:
                    arrays.setdefault(place_of(operand), operand)
            made.add(place_of(step.target))
        loads = tuple(range(len(arrays)))
        values = {place: i for i, place in enumerate(arrays)}
        steps: list[tuple[str, tuple[int, ...]]] = []
        stores: dict[Any, int] = {}
        for number, step in zip(self.numbers, self._steps, strict=True):
            inputs = tuple([values[place_of(operand)] for operand in step.inputs])
            name = step.name
            if name == "square":
                name, inputs = "multiply", inputs * 2
            elif name == "clip":
                steps.append(("maximum", inputs[:2]))
                name, inputs = "minimum", (len(loads) + len(steps) - 1, inputs[2])
            place = place_of(step.target)
            values[place] = len(loads) + len(steps)
            steps.append((name, inputs))
            if number in numbers:
                arrays.setdefault(place, step.target)
                stores[place] = values[place]
            else:
                stores.pop(place, None)
        self.arrays = list(arrays.values())
        indexes = {place: i for i, place in enumerate(arrays)}
        shape = self._steps[0].target.shape
        nest = nest_of(shape, self.arrays)
        assert nest is not None
        dtypes = {x.dtype for step in self._steps for x in (*step.inputs, step.target)}
        (dtype,) = dtypes - {_BOOL}
        self.part = Loop(
            *(nest[0], dtype.name, nest[1], loads, tuple(steps)),
            tuple([(value, indexes[place]) for place, value in stores.items()]),
            masks_of(self.arrays),
        )


Entry = LoopOfCalls


def place_of(operand: Operand) -> Any:
    """Returns what operands have in common that are the same elements."""
    return operand.place() if isinstance(operand, Ref) else id(operand)


def masks_of(arrays: Sequence[Operand]) -> tuple[int, ...]:
    """Returns the numbers of the arrays of truth values."""
    return tuple([i for i, array in enumerate(arrays) if array.dtype == _BOOL])


def _operands(steps: list[_Step]) -> list[Operand] | None:
    """Returns the arrays of steps; None if one overlaps a result without being the same."""
    found: dict[Any, Operand] = {}
    dtypes: set[DType] = set()
    for step in steps:
        for operand in (*step.inputs, step.target):
            if not isinstance(operand, Ref) and operand.ndim:
                return None
            found[place_of(operand)] = operand
            dtypes.add(operand.dtype)
    if len(dtypes - {_BOOL}) != 1:
        return None
    targets = {place_of(step.target): step.target for step in steps}
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
    sizes = [operand.dtype.itemsize for operand in operands]
    if any([s and s[-1] not in (0, size) for s, size in zip(joined, sizes)]):
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
