"""Steps that repeat: calls that are made over and over, each time with results of the time before.

No kernel declares them. Calls that read the same array, such as a weight, and that need each other
one after the other, belong to a recurrence. What every way from one of them to the next one passes
is the state that the steps carry. :func:`repeated_steps` looks for three such calls, and takes the
calls between two states for a step. Then it finds all steps that make the same calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import copysign
from typing import Any, NamedTuple

import numpy

from chainer.backends.numpy.recording.dependencies import Dependencies
from chainer.backends.numpy.recording.memory import Ref, references
from chainer.backends.numpy.recording.tape import Call
from chainer.core.arrays.recurrence import Recurrence, StepCall

#: Longer programs take long to look at, and a bit for each pair of calls.
_LONGEST_PROGRAM = 10000

#: Times that an array is read by calls of a name: fewer make no recurrence.
_FEWEST_CALLS = 3

#: Calls of a step. Cells of a network have some tens.
_MOST_CALLS = 200

#: Places of a recurrence that are looked at: the first steps may differ, and the last ones.
_PLACES = (0, 1, -1)

#: The name of the state that a step gets.
STATE = "state"


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
        steps: The steps, in the order of their last calls.
    """

    recurrence: Recurrence
    steps: list[Step]


def repeated_steps(
    calls: Sequence[Call], uses: Dependencies, names: Mapping[int, str]
) -> Iterator[Repeated]:
    """Yields steps that repeat; one step may belong to several of them.

    Args:
        calls: The calls.
        uses: Which calls have to follow which.
        names: Names of the calls of which steps may consist, by their numbers. Each of them has
            one array as its result.
    """
    if not can_repeat(calls, names):
        return
    chains = _chains(calls, names)
    steps = _Steps(calls, uses, names)
    found: set[int] = set()
    for chain in chains:
        if chain[1] in found:
            continue
        for place in _PLACES:
            first, *others = chain[place : place + 3] if place >= 0 else chain[-3:]
            if len(others) < 2:
                continue
            repeated = steps.around(first, *others)
            if repeated is not None:
                found.update([i for step in repeated.steps for i in step.numbers])
                yield repeated
                break


def _chains(calls: Sequence[Call], names: Mapping[int, str]) -> list[list[int]]:
    """Returns the numbers of calls that read the same array at the same position."""
    chains: dict[Any, list[int]] = defaultdict(list)
    for i, name in names.items():
        for position, argument in enumerate(calls[i].args):
            if isinstance(argument, Ref):
                chains[name, position, argument.place()].append(i)
    return [chain for chain in chains.values() if len(chain) >= _FEWEST_CALLS]


def can_repeat(calls: Sequence[Call], names: Mapping[int, str]) -> bool:
    """Returns whether a program may have steps that repeat, which takes little time to say.

    Args:
        calls: The calls.
        names: As for :func:`repeated_steps`.
    """
    return len(calls) <= _LONGEST_PROGRAM and bool(_chains(calls, names))


class _Steps:
    """Finds steps by the calls that they make.

    Args:
        calls: The calls.
        uses: Which calls have to follow which.
        names: As for :func:`repeated_steps`.
    """

    def __init__(self, calls: Sequence[Call], uses: Dependencies, names: Mapping[int, str]) -> None:
        self._calls = calls
        self._uses = uses
        self._names = names
        self._maker: dict[Any, int] = {}
        self._by_name: dict[str, list[int]] = defaultdict(list)
        for i, name in names.items():
            self._maker[self._result(i).place()] = i
            self._by_name[name].append(i)
        # A bit for each call that has to be made earlier, directly or not, and for itself.
        self._needs: list[int] = []
        for i, before in enumerate(uses.before):
            bits = 1 << i
            for j in before:
                bits |= self._needs[j]
            self._needs.append(bits)

    def around(self, a: int, b: int, c: int) -> Repeated | None:
        """Returns the steps that make the same calls as the one around ``b``.

        Args:
            a: The call that reads an array.
            b: The next one.
            c: The one after that.
        """
        if not (self._follows(b, a) and self._follows(c, b)):
            return None
        states = self._states(a, c)
        earlier = [i for i in states if not self._follows(i, b)]
        later = [i for i in states if self._follows(i, b)]
        # Late ones first: the last step of a layer has the calls that lead to its result, and not
        # those that lead from there to the next step.
        for first in reversed(earlier):
            for second in reversed(later):
                if self._names[first] == self._names[second]:
                    found = self._from(first, second)
                    if found is not None:
                        return found
        return None

    def _from(self, first: int, second: int) -> Repeated | None:
        """Returns the steps that make the calls between two states."""
        step = self._between(first, second)
        if step is None or len(step) > _MOST_CALLS:
            return None
        pattern = self._pattern(self._with_sources(step, first), self._result(first))
        return None if pattern is None else self._alike(pattern)

    def _with_sources(self, step: list[int], first: int) -> list[int]:
        """Returns the calls of a step with those before it whose results nothing else reads.

        Their results need no memory then, such as derivatives, which would have to wait for all
        steps. Calls that read what lasts, such as weights, are left to be joined over all steps.
        """
        found = set(step)
        waiting = list(step)
        while waiting and len(found) <= _MOST_CALLS:
            for ref in references(self._calls[waiting.pop()].args):
                i = self._maker.get(ref.place())
                if i is None or i == first or i in found or not self._uses.readers[i] <= found:
                    continue
                if all([r.buffer.memory is None for r in references(self._calls[i].args)]):
                    found.add(i)
                    waiting.append(i)
        return sorted(found)

    def _result(self, i: int) -> Ref:
        return next(references(self._calls[i].out))

    def _follows(self, later: int, earlier: int) -> bool:
        """Returns whether a call needs another one, or is that one."""
        return bool(self._needs[later] >> earlier & 1)

    def _between(self, a: int, b: int) -> list[int] | None:
        """Returns the calls that need ``a`` and that ``b`` needs, and ``b``; None if others do."""
        found = [i for i in range(a + 1, b + 1) if self._follows(b, i) and self._follows(i, a)]
        return found if all([i in self._names for i in found]) else None

    def _states(self, a: int, c: int) -> list[int]:
        """Returns the calls that are on every way from one call to another, without the last."""
        between = self._between(a, c)
        if between is None or len(between) > 2 * _MOST_CALLS:
            return []
        ways = [a, *between]
        return [
            i
            for i in ways
            if i != c and all([self._follows(i, j) if j < i else self._follows(j, i) for j in ways])
        ]

    def _pattern(self, step: list[int], state: Ref) -> tuple[StepCall, ...] | None:
        """Returns the calls of a step with names for their arrays."""
        names: dict[Any, str] = {state.place(): STATE}
        pattern: list[StepCall] = []
        for n, i in enumerate(step):
            arguments: list[str | float | None] = []
            for argument in self._calls[i].args:
                if isinstance(argument, Ref):
                    name = names.setdefault(argument.place(), f"input_{len(names)}")
                    arguments.append(name)
                elif argument is None:
                    arguments.append(None)
                else:
                    number = number_of(argument)
                    if number is None:
                        return None
                    arguments.append(number)
            place = self._result(i).place()
            if place in names:
                return None  # a result that overwrites what another call reads
            names[place] = f"result_{n}"
            pattern.append(StepCall(self._names[i], tuple(arguments), names[place]))
        # Calls may have to follow another one without reading what it makes.
        is_read = any([STATE in call.arguments for call in pattern])
        return tuple(pattern) if is_read else None

    def _alike(self, pattern: tuple[StepCall, ...]) -> Repeated | None:
        """Returns all steps that make the calls of a pattern; None if none follows another."""
        steps = [self._step(pattern, i) for i in self._by_name[pattern[-1].name]]
        found = [step for step in steps if step is not None]
        last = pattern[-1].names_of_results()[0]
        ends = {_place(step.values[last]): step for step in found}
        pairs = [(ends.get(_place(step.values[STATE])), step) for step in found]
        pair = next(((a.values, b.values) for a, b in pairs if a is not None), None)
        if pair is None:
            return None
        results = tuple([name for call in pattern for name in call.names_of_results()])
        read = [name for call in pattern for name in call.arguments if isinstance(name, str)]
        fixed = [
            name
            for name in dict.fromkeys(read)
            if name != STATE
            and name not in results
            and _place(pair[0][name]) == _place(pair[1][name])
        ]
        recurrence = Recurrence(
            calls=pattern,
            carried={last: STATE},
            fixed=tuple(fixed),
            results=results,
            method="all_steps",
            supports="supports_steps",
        )
        return Repeated(recurrence, found)

    def _step(self, pattern: tuple[StepCall, ...], last: int) -> Step | None:
        """Returns the step that ends with a call; None if other calls lead to it.

        From the last call back to the first ones no choice is left: one call makes each array.
        """
        makers = {call.results: n for n, call in enumerate(pattern)}
        values: dict[str, Ref | None] = {}
        numbers: list[int | None] = [None] * len(pattern)
        waiting = [(len(pattern) - 1, last)]
        while waiting:
            n, i = waiting.pop()
            if numbers[n] is not None:
                if numbers[n] != i:
                    return None
                continue
            call, given = pattern[n], self._calls[i].args
            if self._names.get(i) != call.name or len(given) != len(call.arguments):
                return None
            numbers[n] = i
            pairs = zip((call.results, *call.arguments), (self._result(i), *given), strict=True)
            for name, value in pairs:
                if not isinstance(name, str):
                    is_same = isinstance(name, float) and is_number(value, name)
                    if not (value is None if name is None else is_same):
                        return None
                    continue
                if not isinstance(value, Ref):
                    return None
                if _place(values.setdefault(name, value)) != value.place():
                    return None
                if name in makers and name != call.results:
                    maker = self._maker.get(value.place())
                    if maker is None:
                        return None
                    waiting.append((makers[name], maker))
        # Others have to follow some calls only because they overwrite what these read.
        made = tuple([i for i in numbers if i is not None])
        return Step(made, values) if len(made) == len(pattern) else None


def _place(ref: Ref | None) -> Any:
    return None if ref is None else ref.place()


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
