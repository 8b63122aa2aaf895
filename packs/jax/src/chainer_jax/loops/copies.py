"""Finds equations that follow each other in copies, and what the copies get from each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from chainer_jax.loops.simplify import Equation, is_literal

if TYPE_CHECKING:
    from chainer.typing import Array

#: Fewer copies than this stay as they are: they compile quickly.
_FEWEST_COPIES = 4

#: The copies must make as many equations superfluous.
_FEWEST_SAVED = 16

#: Share of the bytes that copies compute which may have to be copied to stack their inputs. More
#: comes from layers with weights of their own, which are better left where they are.
_LARGEST_SHARE_OF_COPIED = 0.2


@dataclass(frozen=True)
class Same:
    """An input that is the same in all copies."""

    x: Any


@dataclass(frozen=True)
class Varying:
    """An input that comes from outside, another one in each copy."""

    xs: list[Any]


@dataclass(frozen=True)
class Inner:
    """An input that the copies compute.

    Attributes:
        number: Number of the equation in its copy.
        output: Number of its output.
        lag: How many copies before: 0 for the same one.
        first: Variables from outside, which the first ``lag`` copies get instead.
    """

    number: int
    output: int
    lag: int
    first: list[Any]


@dataclass
class Copies:
    """Equations in copies.

    Attributes:
        start: Place of the first equation.
        stop: Place behind the last one.
        equations: For each copy its equations.
        inputs: For each equation of a copy its inputs.
    """

    start: int
    stop: int
    equations: list[list[Equation]]
    inputs: list[list[Same | Varying | Inner]]

    @property
    def count(self) -> int:
        """Number of copies."""
        return len(self.equations)


def _bytes(x: Array) -> int:
    return int(numpy.prod(x.aval.shape)) * x.aval.dtype.itemsize


def _longest(kinds: Any, period: int) -> tuple[int, int]:
    """Returns start and length of the longest run of equations that are as those a period later."""
    equal = numpy.concatenate(([0], kinds[:-period] == kinds[period:], [0]))
    edges = numpy.flatnonzero(numpy.diff(equal))
    if not len(edges):
        return 0, 0
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    longest = int(lengths.argmax())
    return int(starts[longest]), int(lengths[longest])


def _candidates(kinds: Any) -> Iterator[tuple[int, int, int]]:
    """Yields start, period and number of copies, those first that save most equations."""
    found = []
    for period in range(1, len(kinds) // _FEWEST_COPIES + 1):
        start, length = _longest(kinds, period)
        count = (length + period) // period
        saved = (count - 1) * period
        if count >= _FEWEST_COPIES and saved >= _FEWEST_SAVED:
            found.append((-saved, period, start, count))
    for _, period, start, count in sorted(found)[:8]:
        yield start, period, count


class _Search:
    def __init__(self, equations: Sequence[Equation]) -> None:
        self._equations = equations
        numbers: dict[Any, int] = {}
        self._kinds = numpy.array([numbers.setdefault(e.kind, len(numbers)) for e in equations])

    def between(self, start: int, stop: int) -> list[Copies]:
        """Returns the copies in a range of the equations, in their order."""
        if stop - start < _FEWEST_SAVED:
            return []
        for first, period, count in _candidates(self._kinds[start:stop]):
            begin = start + first
            # At the ends, copies may have other inputs than between.
            for before, behind in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 2)):
                left = count - before - behind
                if left < _FEWEST_COPIES:
                    break
                at = begin + before * period
                found = self._copies(at, period, left)
                if found is not None:
                    earlier, later = self.between(start, at), self.between(found.stop, stop)
                    return [*earlier, found, *later]
        return []

    def _copies(self, start: int, period: int, count: int) -> Copies | None:
        stop = start + period * count
        copies = [list(self._equations[at : at + period]) for at in range(start, stop, period)]
        if any([e.has_effects for copy in copies for e in copy]):
            return None
        places = {
            y: (i, q, o)
            for i, copy in enumerate(copies)
            for q, equation in enumerate(copy)
            for o, y in enumerate(equation.outputs)
        }
        inputs: list[list[Same | Varying | Inner]] = []
        for q in range(period):
            row: list[Same | Varying | Inner] = []
            for j in range(len(copies[0][q].inputs)):
                found = _input([copy[q].inputs[j] for copy in copies], places)
                if found is None:
                    return None
                row.append(found)
            inputs.append(row)
        return Copies(start, stop, copies, inputs)


def _input(xs: list[Any], places: dict[Any, Any]) -> Same | Varying | Inner | None:
    """Returns where an input of all copies comes from; None if there is no rule."""
    first = xs[0]
    if is_literal(first):
        values = {repr(x.val) for x in xs}
        return Same(first) if len(values) == 1 else Varying(xs)
    if all([x is first for x in xs]) and first not in places:
        return Same(first)
    found = [places.get(x) for x in xs]
    if not any(found):
        return Varying(xs)
    i, q, o = found[-1] or (0, 0, 0)
    lag = len(xs) - 1 - i
    inside = [(i - lag, q, o) for i in range(lag, len(xs))]
    if found[-1] is None or any(found[:lag]) or found[lag:] != inside:
        return None
    return Inner(q, o, lag, xs[:lag])


def find_copies(equations: Sequence[Equation]) -> list[Copies]:
    """Returns all copies that are worth to be evaluated at once, in the order of the equations.

    Args:
        equations: Equations of a program.
    """
    chosen: list[Copies] = []
    stacked: set[Any] = set()  # what copies compute is in stacks already
    for copies in _Search(equations).between(0, len(equations)):
        outputs = {y for copy in copies.equations for e in copy for y in e.outputs}
        varying = {
            x
            for row in copies.inputs
            for found in row
            if isinstance(found, Varying)
            for x in found.xs
            if not is_literal(x) and x not in stacked
        }
        if sum(map(_bytes, varying)) <= _LARGEST_SHARE_OF_COPIED * sum(map(_bytes, outputs)):
            chosen.append(copies)
            stacked |= outputs
    return chosen
