"""Joined calls: products with the same weights become one product of all their rows.

A recurrent network that is written step by step multiplies a few rows at a time: an input by the
weights, a gradient by the weights, and for the gradient of the weights the sum of a product of each
step. Products that do not need each other are made as one, whose matrices have the rows of all
steps. The recurrent products themselves stay. The rows lie one after the other in memory, so that
single steps read and write them where they are.

Sums are in another order than in the step as written, so that results differ by roundings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from chainer.backends.numpy.recording.contraction import contracted_order, without_cycles
from chainer.backends.numpy.recording.dependencies import (
    END,
    Dependencies,
    Parents,
    depends_on_arguments_alone,
)
from chainer.backends.numpy.recording.memory import Buffer, Held, Ref, leaves, references
from chainer.backends.numpy.recording.planning import Plan
from chainer.backends.numpy.recording.rows import RowPlaces, first_rows
from chainer.backends.numpy.recording.simplify import is_elementwise, written
from chainer.backends.numpy.recording.sums import is_sum
from chainer.backends.numpy.recording.tape import Call, Kind
from chainer.backends.numpy.recording.whole_calls import joined_rows
from chainer.core.arrays.kernel import JoinedRows

#: Longer programs take long to look at.
_LONGEST_PROGRAM = 20000

#: Intermediate results of all steps have to be kept until they are multiplied. This is the largest
#: memory, relative to the memory of the single calls, and bytes that are always allowed.
_MOST_MEMORY, _SPARE_BYTES = 1.5, 1 << 18


class _Group(NamedTuple):
    """Calls to make as one.

    Attributes:
        members: Their numbers.
        rows: Which arguments have rows, and whether results are added.
        axes: The axis of the rows in each of these arguments.
        out: The array that the joined call writes, if results are added.
        sums: Numbers of the additions that the joined call replaces.
    """

    members: list[int]
    rows: JoinedRows
    axes: tuple[int, ...]
    out: Ref | None = None
    sums: frozenset[int] = frozenset()

    def calls(self) -> tuple[int, ...]:
        """Returns the numbers of all calls that the joined call replaces."""
        return (*self.members, *sorted(self.sums))


def with_joined_calls(
    calls: list[Call], outputs: Sequence[Ref], parents: Parents
) -> tuple[list[Call], Parents]:
    """Returns calls that compute the same but for roundings, and what lies within other memory.

    Args:
        calls: The calls, which stay as they are.
        outputs: References that are read after the last call.
        parents: For buffers that lie within another one, that buffer and the offset in bytes.
    """
    if len(calls) > _LONGEST_PROGRAM:
        return calls, parents
    uses = Dependencies(calls, outputs, parents, depends_on_arguments_alone)
    places = RowPlaces(calls, outputs, parents)
    groups = [g for g in _sums(calls, uses, parents) if _pays(g, calls, places)]
    taken = {i for group in groups for i in group.members}
    groups += [g for g in _products(calls, uses, taken) if _pays(g, calls, places)]
    numbers = without_cycles([group.calls() for group in groups], uses)
    groups = [group for group in groups if group.calls() in numbers]
    if not groups:
        return calls, parents
    joined = [_Joined(group, calls, places) for group in groups]
    parents = {**parents, **places.finish()}
    result: list[Call] = []
    for number in contracted_order(numbers, uses):
        if number < len(calls):
            result.append(calls[number])
        else:
            result += joined[number - len(calls)].made()
    before = Plan(calls, list(outputs), parents, set()).nbytes
    after = Plan(result, list(outputs), parents, set()).nbytes
    if after > before * _MOST_MEMORY + _SPARE_BYTES:
        return calls, {k: v for k, v in parents.items() if k not in places.placed}
    return result, parents


# -- groups ---------------------------------------------------------------------------------------


def _rows_of(call: Call) -> tuple[JoinedRows, tuple[int, ...]] | None:
    """Returns how a call can be joined as a sum, and the axes of the rows; None if it cannot."""
    if call.function is numpy.matmul and not call.kwargs:
        if all([isinstance(a, Ref) and len(a.shape) == 2 for a in call.args]):
            return JoinedRows((0, 1), adds=True), (1, 0)
    elif is_sum(call) and call.kwargs.get("axis") in (0, (0,)) and len(call.args[0].shape) == 2:
        return JoinedRows((0,), adds=True), (0,)
    elif call.kind is Kind.WHOLE:
        rows = joined_rows(call.function)
        if rows is not None and rows.adds and _has_rows(call, rows):
            return rows, (0,) * len(rows.arguments)
    return None


def _has_rows(call: Call, rows: JoinedRows) -> bool:
    """Returns whether a call consists of arrays alone, with the arguments that have rows."""
    if any([isinstance(x, Held) for x in leaves((call.args, call.kwargs, call.out))]):
        return False
    given = [call.args[i] for i in rows.arguments if i < len(call.args)]
    return (
        isinstance(call.out, Ref)
        and len(given) == len(rows.arguments)
        and all([isinstance(a, Ref) and len(a.shape) > 0 for a in given])
    )


def _key(call: Call, rows: JoinedRows, axes: tuple[int, ...]) -> Any:
    """Returns what calls have in common that can be joined."""
    parts: list[Any] = []
    for i, value in enumerate(call.args):
        if i in rows.arguments:
            shape = list(value.shape)
            shape.pop(axes[rows.arguments.index(i)])
            parts.append((tuple(shape), value.dtype))
        else:
            parts.append(_constant(value))
    owner = getattr(call.function, "__self__", None)
    function = (id(owner), call.function.__name__) if owner is not None else call.function
    keywords = tuple([(name, _constant(value)) for name, value in call.kwargs.items()])
    return function, tuple(parts), keywords, call.errors, rows


def _constant(value: Any) -> Any:
    if isinstance(value, Ref):
        return value.place()
    if isinstance(value, numpy.ndarray):
        return value.dtype, value.tobytes()
    if isinstance(value, (tuple, list)):
        return tuple([_constant(v) for v in value])
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def _is_addition(call: Call) -> bool:
    """Returns whether a call adds two arrays of the shape of the result."""
    if call.function is not numpy.add or not is_elementwise(call):
        return False
    target = call.out[0]
    return all(
        [
            isinstance(a, Ref) and a.shape == target.shape and a.dtype == target.dtype
            for a in call.args
        ]
    )


def _sums(calls: list[Call], uses: Dependencies, parents: Parents) -> list[_Group]:
    """Returns groups of calls whose results are added up and not used otherwise."""
    writes: dict[Buffer, list[int]] = defaultdict(list)
    for i, call in enumerate(calls):
        for ref in written(call):
            writes[parents.get(ref.buffer, (ref.buffer, 0))[0]].append(i)

    def reader(i: int) -> int | None:
        """Returns the addition that alone reads what a call writes."""
        readers = uses.readers[i]
        if len(readers) != 1:
            return None
        (j,) = readers
        if j == END or not _is_addition(calls[j]):
            return None
        target = next(references(calls[i].out))
        return j if sum([a.place() == target.place() for a in calls[j].args]) == 1 else None

    roots: dict[int, int] = {}
    for i in range(len(calls) - 1, -1, -1):
        if _is_addition(calls[i]):
            above = reader(i)
            roots[i] = i if above is None else roots[above]
    additions: dict[int, set[int]] = defaultdict(set)
    for i, root in roots.items():
        additions[root].add(i)
    candidates: dict[int, dict[Any, list[int]]] = defaultdict(lambda: defaultdict(list))
    found: dict[int, tuple[JoinedRows, tuple[int, ...]]] = {}
    for i, call in enumerate(calls):
        how = _rows_of(call)
        above = None if how is None else reader(i)
        if how is None or above is None:
            continue
        root = roots[above]
        sources = [parents.get(r.buffer, (r.buffer, 0))[0] for r in references(call.args)]
        # The arrays that the product reads must still be there when all are known.
        if any([i < j <= root for source in sources for j in writes[source]]):
            continue
        found[i] = how
        candidates[root][_key(call, *how)].append(i)
    groups: list[_Group] = []
    for root, kinds in candidates.items():
        (members,) = kinds.values() if len(kinds) == 1 else (None,)
        # Other terms of the sum would have to be added in an order of their own.
        if members is None or len(members) != len(additions[root]) + 1:
            continue
        rows, axes = found[members[0]]
        out = calls[root].out[0]
        groups.append(_Group(members, rows, axes, out, frozenset(additions[root])))
    return groups


def _products(calls: list[Call], uses: Dependencies, taken: set[int]) -> list[_Group]:
    """Returns groups of calls with the same weights, of which none needs another one."""
    kinds: dict[Any, list[int]] = defaultdict(list)
    found: dict[Any, tuple[JoinedRows, tuple[int, ...]]] = {}
    last_write: dict[Buffer, int] = {}
    for i, call in enumerate(calls):
        rows = None if i in taken else _rows_of_product(call)
        if rows is not None:
            weights = [a for n, a in enumerate(call.args) if n not in rows.arguments]
            versions = [last_write.get(ref.buffer, END) for ref in references(weights)]
            axes = (0,) * len(rows.arguments)
            key = _key(call, rows, axes), tuple(versions)
            kinds[key].append(i)
            found[key] = rows, axes
        for ref in written(call):
            last_write[ref.buffer] = i
    kinds = {key: members for key, members in kinds.items() if len(members) > 1}
    ancestors = _ancestors(uses) if kinds else []
    groups: list[_Group] = []
    for key, members in kinds.items():
        # A recurrent product has as many layers as members.
        layers = [layer for layer in _layers(members, ancestors) if len(layer) > 1]
        groups += [_Group(layer, *found[key]) for layer in layers]
    return groups


def _rows_of_product(call: Call) -> JoinedRows | None:
    """Returns which arguments have the rows of the result; None for other calls than products."""
    if call.kind is Kind.WHOLE:
        rows = joined_rows(call.function)
        if rows is not None and not rows.adds and _has_rows(call, rows):
            return rows
    elif call.function is numpy.matmul and _rows_of(call) is not None:
        return JoinedRows((0,))
    return None


def _layers(members: Sequence[int], ancestors: list[int]) -> list[list[int]]:
    """Returns calls in lists, in each of which no call needs another one."""
    layers: list[tuple[list[int], int]] = []
    for i in members:
        for n, (layer, bits) in enumerate(layers):
            if not ancestors[i] & bits:
                layers[n] = [*layer, i], bits | 1 << i
                break
        else:
            layers.append(([i], 1 << i))
    return [layer for layer, _ in layers]


def _ancestors(uses: Dependencies) -> list[int]:
    """Returns the calls that each call needs, directly or not, as bits."""
    found: list[int] = []
    for before in uses.before:
        bits = 0
        for j in before:
            bits |= found[j] | 1 << j
        found.append(bits)
    return found


def _pays(group: _Group, calls: list[Call], places: RowPlaces) -> bool:
    """Returns whether a joined call copies less than it saves.

    A joined sum is written once, and a joined product reads its weights once. The rule knows the
    shapes alone: to measure would let results differ by roundings from process to process.
    """
    members = [calls[i] for i in group.members]
    copied = sum(
        [
            places.copied([first_rows(call.args[i], axis) for call in members])
            for i, axis in zip(group.rows.arguments, group.axes, strict=True)
        ]
    )
    if group.out is not None:
        once = group.out.size
    else:
        copied += places.copied([next(references(c.out)) for c in members], is_result=True)
        fixed = [a for i, a in enumerate(members[0].args) if i not in group.rows.arguments]
        once = sum([ref.size for ref in references(fixed)])
    return copied <= once * (len(members) - 1)


# -- calls ----------------------------------------------------------------------------------------


class _Joined:
    """The calls in place of a group."""

    def __init__(self, group: _Group, calls: list[Call], places: RowPlaces) -> None:
        self._group = group
        self._calls = places.ordered([calls[i] for i in group.members], group.rows)
        self._places = places
        self._inputs = [
            places.place([first_rows(call.args[i], axis) for call in self._calls])
            for i, axis in zip(group.rows.arguments, group.axes, strict=True)
        ]
        self._output = None
        if group.out is None:
            results = [next(references(call.out)) for call in self._calls]
            self._output = places.place(results, is_result=True)

    def made(self) -> list[Call]:
        """Returns the calls."""
        first = self._calls[0]
        args = list(first.args)
        made: list[Call] = []
        for i, axis, rows in zip(self._group.rows.arguments, self._group.axes, self._inputs):
            made += rows.copies_before()
            args[i] = first_rows(rows.whole(), axis)
        out = self._group.out if self._output is None else self._output.whole()
        given = (out,) if type(first.out) is tuple else out
        made.append(
            Call(first.kind, first.function, tuple(args), first.kwargs, given, first.errors)
        )
        return made if self._output is None else made + self._output.copies_after()
