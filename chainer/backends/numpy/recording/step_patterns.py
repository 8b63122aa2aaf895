"""The calls of one step as a pattern: names in place of arrays, which each step gives its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import copysign, prod
from typing import Any, NamedTuple

import numpy

from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.tape import Call
from chainer.core.arrays.recurrence import Part, Recurrence, StepCall


class Step(NamedTuple):
    """The calls of one step.

    Attributes:
        numbers: Their numbers.
        values: The arrays by their names.
    """

    numbers: tuple[int, ...]
    values: dict[str, Ref | None]


class Repeated(NamedTuple):
    """Steps that make the same calls, of one layer or of several.

    Attributes:
        recurrence: What they are.
        steps: The steps, in order.
    """

    recurrence: Recurrence
    steps: list[Step]


def pattern_of(
    calls: Sequence[Call],
    names: Mapping[int, str],
    writers: Mapping[Buffer, Sequence[int]],
    steps: Sequence[Sequence[int]],
) -> Repeated | None:
    """Returns what steps have in common, and the steps with their arrays.

    Steps at the beginning that read their arrays otherwise are left out. None is returned if no
    step reads what the one before makes, or if something else writes to the memory of a step.

    Args:
        calls: The calls.
        names: Their names, by their numbers.
        writers: The calls that write to each buffer.
        steps: The numbers of the calls of each step, three or more, in the same order for each.
    """
    before, made = (_arrays_of(calls, writers, step) for step in steps[-3:-1])
    if before is None or made is None or len(before) != len(made):
        return None
    pattern = _Pattern(before, made)
    found: list[StepCall] = []
    for i in steps[-2]:
        call = pattern.call(names[i], calls[i])
        if call is None:
            return None
        found.append(call)
    if not pattern.carried:
        return None
    values = [pattern.values_of(found, [calls[i] for i in step]) for step in steps]
    while None in values:
        values.pop(0)
    bound = [value for value in values if value is not None]
    if len(bound) < 2:
        return None
    own = [Step(tuple(i), v) for i, v in zip(steps[-len(bound) :], bound, strict=True)]
    fixed = [n for n in pattern.inputs if len({step.values[n].place() for step in own}) == 1]  # type: ignore[union-attr]
    recurrence = Recurrence(
        calls=tuple(found),
        carried=pattern.carried,
        fixed=tuple(fixed),
        results=tuple(pattern.wholes)[: len(made)],
        method="all_steps",
        supports="supports_steps",
        parts=pattern.parts,
    )
    return Repeated(recurrence, own)


def _arrays_of(
    calls: Sequence[Call], writers: Mapping[Buffer, Sequence[int]], step: Sequence[int]
) -> dict[Buffer, Ref] | None:
    """Returns the arrays that a step makes, each as a whole; None if other calls write to them.

    An array that several calls write has one axis.
    """
    found: dict[Buffer, Ref] = {}
    own = {*step}
    for i in step:
        ref = next(references(calls[i].out))
        buffer, itemsize = ref.buffer, ref.dtype.itemsize
        if buffer.memory is not None or not own.issuperset(writers[buffer]):
            return None
        if len(writers[buffer]) > 1 or not ref.is_whole():
            ref = Ref(buffer, 0, (buffer.nbytes // itemsize,), (itemsize,), ref.dtype)
        found.setdefault(buffer, ref)
    return found


class _Pattern:
    """Gives names to the arrays of a step.

    Args:
        before: The arrays that the step before makes.
        made: Those that the step makes, in the same order.

    Attributes:
        wholes: The arrays by their names, first those that the step makes, and then states.
        carried: For names of results, the name in the next step.
        parts: Names of parts of arrays.
        inputs: Names of other arrays that are read.
    """

    def __init__(self, before: dict[Buffer, Ref], made: dict[Buffer, Ref]) -> None:
        self.wholes = {f"result_{n}": ref for n, ref in enumerate(made.values())}
        self.carried: dict[str, str] = {}
        self.parts: dict[str, Part] = {}
        self.inputs: list[str] = []
        self._made = dict(zip(made, self.wholes, strict=True))
        self._before = dict(zip(before, self._made.values(), strict=True))
        self._refs_before = before
        self._places: dict[Any, str] = {}

    def call(self, name: str, call: Call) -> StepCall | None:
        """Returns a call with names for its arrays; None if it has other arguments."""
        arguments: list[str | float | None] = []
        for argument in call.args:
            if argument is None:
                arguments.append(None)
                continue
            value = self._name(argument) if isinstance(argument, Ref) else number_of(argument)
            if value is None:
                return None
            arguments.append(value)
        out = self._name(next(references(call.out)))
        return None if out is None else StepCall(name, tuple(arguments), out)

    def _name(self, ref: Ref) -> str | None:
        whole = self._made.get(ref.buffer)
        if whole is None and ref.buffer in self._before:
            made = self._before[ref.buffer]
            whole = self.carried.setdefault(made, f"state_{len(self.carried)}")
            self.wholes.setdefault(whole, self._refs_before[ref.buffer])
        if whole is not None:
            return self._part(whole, ref)
        name = self._places.setdefault(ref.place(), f"input_{len(self._places)}")
        if name not in self.inputs:
            self.inputs.append(name)
        return name

    def _part(self, whole: str, ref: Ref) -> str | None:
        """Returns the name of an array that lies within another one."""
        known, itemsize = self.wholes[whole], ref.dtype.itemsize
        if (ref.offset, ref.shape, ref.strides, ref.dtype) == (0, *layout_of(known)):
            return whole
        lengths = ref.offset, *ref.strides
        if ref.dtype != known.dtype or any([n % itemsize for n in lengths]):
            return None
        offset, *strides = [n // itemsize for n in lengths]
        part = Part(whole, offset, ref.shape, tuple(strides))
        for name, other in self.parts.items():
            if part == other:
                return name
        name = f"{whole}_part_{len(self.parts)}"
        self.parts[name] = part
        return name

    def values_of(
        self, pattern: Sequence[StepCall], calls: Sequence[Call]
    ) -> dict[str, Ref | None] | None:
        """Returns the arrays of a step by their names; None if it reads or writes others."""
        values: dict[str, Ref | None] = {}
        for wanted, call in zip(pattern, calls, strict=True):
            pairs = zip(wanted.arguments, call.args, strict=True)
            out = next(references(call.out))
            for name, value in [*pairs, (wanted.results, out)]:
                if not isinstance(name, str):
                    is_same = isinstance(name, float) and is_number(value, name)
                    if not (value is None if name is None else is_same):
                        return None
                elif not isinstance(value, Ref) or not self._binds(name, value, values):
                    return None
        return values

    def _binds(self, name: str, ref: Ref, values: dict[str, Ref | None]) -> bool:
        """Returns whether an array may have a name, and gives it the name."""
        part = self.parts.get(name)
        whole = name if part is None else part.of
        if whole not in self.wholes:
            return values.setdefault(name, ref).place() == ref.place()  # type: ignore[union-attr]
        of, itemsize = self.wholes[whole], ref.dtype.itemsize
        offset, shape, strides = 0, of.shape, of.strides
        if part is not None:
            offset, shape = part.offset * itemsize, part.shape
            strides = tuple([n * itemsize for n in part.strides])
        if (ref.shape, ref.strides, ref.dtype) != (shape, strides, of.dtype):
            return False
        start, size = ref.offset - offset, prod(of.shape) * itemsize
        if part is not None:
            if start < 0 or start + size > ref.buffer.nbytes:
                return False
            ref = Ref(ref.buffer, start, of.shape, of.strides, of.dtype)
        known = values.setdefault(whole, ref)
        return known is not None and known.place() == ref.place()


def layout_of(ref: Ref) -> tuple[Any, ...]:
    """Returns the shape, the strides and the dtype of an array.

    Args:
        ref: The array.
    """
    return ref.shape, ref.strides, ref.dtype


def number_of(value: Any) -> float | None:
    """Returns the number in an array without axes; None for other values.

    Args:
        value: Argument of a recorded call.
    """
    if type(value) is numpy.ndarray and value.ndim == 0 and value.dtype.kind == "f":
        return float(value)
    return None


def is_number(value: Any, number: float) -> bool:
    """Returns whether an array holds a number: 0.0 and -0.0 are two numbers, as sums show.

    Args:
        value: Argument of a recorded call.
        number: The number.
    """
    found = number_of(value)
    if found is None:
        return False
    return found == number and copysign(1, found) == copysign(1, number)
