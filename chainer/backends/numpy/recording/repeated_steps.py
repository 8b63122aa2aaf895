"""Steps that repeat: calls that are made over and over, each time with results of the time before.

No kernel declares them. Calls that read the same array, such as a weight, and that need each other
one after the other, belong to a recurrence. :func:`repeated_steps` follows two of them back, side
by side, as long as the same calls made what they read. So it knows for each call which one takes
its place in the next step. What a step reads of the step before are the states that it carries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chainer.backends.numpy.recording.dependencies import Dependencies
from chainer.backends.numpy.recording.memory import Buffer, Ref, references
from chainer.backends.numpy.recording.simplify import written
from chainer.backends.numpy.recording.step_patterns import (
    Repeated,
    is_number,
    layout_of,
    number_of,
    pattern_of,
)
from chainer.backends.numpy.recording.tape import Call

#: Longer programs take long to look at, and a bit for each pair of calls.
_LONGEST_PROGRAM = 10000

#: Times that an array is read by calls of a name, and steps: fewer make no recurrence.
_FEWEST_CALLS = 3

#: Calls of a step. Cells of a network have some tens.
_MOST_CALLS = 200

#: Places of a chain at which no steps are found, before the chain is given up. The first steps may
#: differ from others, and the last ones, and so may their shapes.
_MOST_FAILURES = 4


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
        failures, middle = 0, (len(chain) - 3) / 2
        # In the middle first, where steps are most alike.
        for place in sorted(range(len(chain) - 2), key=lambda n: abs(n - middle)):
            if chain[place + 1] in found:
                continue
            repeated = steps.around(*chain[place : place + 3])
            if repeated is not None:
                found.update([i for step in repeated.steps for i in step.numbers])
                yield repeated
                continue
            failures += 1
            if failures == _MOST_FAILURES:
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
        self._writers: dict[Buffer, list[int]] = defaultdict(list)
        self._readers: dict[Any, list[int]] = defaultdict(list)
        for i, call in enumerate(calls):
            for buffer in {ref.buffer for ref in written(call)}:
                self._writers[buffer].append(i)
            if i in names:
                for ref in references(call.args):
                    self._readers[ref.place()].append(i)
        # A bit for each call whose result a call reads, directly or not, and for itself. Others
        # have to be made earlier, too: those that write other parts of the same memory.
        self._needs: list[int] = []
        for i, before in enumerate(uses.before):
            bits = 1 << i
            for j in before:
                if i in uses.readers[j]:
                    bits |= self._needs[j]
            self._needs.append(bits)

    def around(self, a: int, b: int, c: int) -> Repeated | None:
        """Returns the steps that make the same calls as the ones that lead to ``b`` and ``c``.

        Args:
            a: A call that reads an array.
            b: The next one.
            c: The one after that.
        """
        if not (self._follows(b, a) and self._follows(c, b)):
            return None
        following = self._paired(b, c)
        if following is None:
            return None
        # Each of them needs ``a``, and ``c`` needs it: no other call is part of the recurrence.
        last = {*following.values()} - {*following}
        members = sorted([i for i in last if self._follows(i, a)])
        if len(members) > _MOST_CALLS:
            return None
        rows = self._with_sources(self._rows(members, following))
        if rows is None or len(rows) > _MOST_CALLS:
            return None
        times = min([len(row) for row in rows])
        if times < _FEWEST_CALLS:
            return None
        # The last steps are whole: the first ones may lack calls that lead to their states.
        rows.sort(key=lambda row: row[-1])
        steps = [[row[t - times] for row in rows] for t in range(times)]
        return pattern_of(self._calls, self._names, self._writers, steps)

    def _follows(self, later: int, earlier: int) -> bool:
        """Returns whether a call needs another one, or is that one."""
        return bool(self._needs[later] >> earlier & 1)

    def _out(self, i: int) -> Ref:
        return next(references(self._calls[i].out))

    def _makers(self, ref: Any, reader: int) -> list[int]:
        """Returns the calls that wrote the memory of an array before a call reads it."""
        if not isinstance(ref, Ref) or ref.buffer.memory is not None:
            return []
        return [i for i in self._writers[ref.buffer] if i < reader]

    # -- the next step

    def _paired(self, b: int, c: int) -> dict[int, int] | None:
        """Returns for each call that leads to ``b`` the one that leads to ``c`` in its place.

        Returns None if a call would have several places.
        """
        following, places, waiting = {b: c}, {c: b}, [(b, c)]
        while waiting:
            i, j = waiting.pop()
            for x, y in zip(self._calls[i].args, self._calls[j].args, strict=True):
                for p, q in self._made_alike(x, i, y, j):
                    if p not in following and q not in places:
                        following[p], places[q] = q, p
                        waiting.append((p, q))
                    elif following.get(p) != q:
                        return None
        return following

    def _made_alike(self, x: Any, i: int, y: Any, j: int) -> list[tuple[int, int]]:
        """Returns the pairs of calls that make an argument of two calls; none if they differ."""
        if not (isinstance(x, Ref) and isinstance(y, Ref)) or x.buffer is y.buffer:
            return []
        if x.offset != y.offset or layout_of(x) != layout_of(y):
            return []
        first, second = self._makers(x, i), self._makers(y, j)
        pairs = list(zip(first, second))
        is_alike = len(first) == len(second) and all([self._are_alike(*pair) for pair in pairs])
        return pairs if is_alike else []

    def _are_alike(self, i: int, j: int) -> bool:
        """Returns whether two calls do the same with arrays of the same shapes."""
        if i == j or i not in self._names or self._names[i] != self._names.get(j):
            return False
        first, second = self._calls[i], self._calls[j]
        if len(first.args) != len(second.args) or first.errors != second.errors:
            return False
        outs = self._out(i), self._out(j)
        if outs[0].offset != outs[1].offset:
            return False
        for x, y in [outs, *zip(first.args, second.args, strict=True)]:
            if isinstance(x, Ref) and isinstance(y, Ref):
                if layout_of(x) != layout_of(y):
                    return False
            elif x is not y:
                number = number_of(x)
                if number is None or not is_number(y, number):
                    return False
        return True

    def _rows(self, members: list[int], following: dict[int, int]) -> list[list[int]]:
        """Returns the calls of all steps in the place of each call of one step, in order.

        The steps go on after the two that were compared, as far as there are the same calls.

        Args:
            members: The calls of one step.
            following: For each call the one in the next step.
        """
        before = {q: p for p, q in following.items()}
        rows: list[list[int]] = []
        for i in members:
            row = [i]
            while row[-1] in before:
                row.append(before[row[-1]])
            rows.append(row[::-1])
        own = {i for row in rows for i in row}
        taken = {*following, *following.values()}
        is_longer = True
        while is_longer:
            is_longer = False
            for row in rows:
                i = self._next(row, own, following, taken)
                if i is not None:
                    following[row[-1]] = i
                    row.append(i)
                    own.add(i)
                    taken.add(i)
                    is_longer = True
        return rows

    def _next(
        self, row: list[int], own: set[int], following: Mapping[int, int], taken: set[int]
    ) -> int | None:
        """Returns the call that continues a row; None if there is none.

        Args:
            row: The calls of all steps so far.
            own: The calls of the recurrence.
            following: For each call the one in the next step.
            taken: Calls that have a place already.
        """
        if len(row) < 2:
            return None
        before, i = row[-2:]
        places: list[Any] = []
        candidates: list[int] = []
        for x, earlier in zip(self._calls[i].args, self._calls[before].args, strict=True):
            places.append(None)
            makers = [p for p in self._makers(x, i) if p in own]
            if makers:
                made = [following[p] for p in makers if p in following]
                if len(made) < len(makers):
                    return None
                buffer = self._out(made[-1]).buffer
                places[-1] = (id(buffer), x.offset, *layout_of(x))
                candidates = candidates or self._readers[places[-1]]
            elif isinstance(x, Ref) and x.place() == earlier.place():
                places[-1] = x.place()
        for j in candidates:
            if j not in taken and self._are_alike(i, j):
                pairs = zip(places, self._calls[j].args, strict=True)
                if all([place is None or place == y.place() for place, y in pairs]):
                    return j
        return None

    def _with_sources(self, rows: list[list[int]]) -> list[list[int]] | None:
        """Returns the calls of all steps with those before them whose results nothing else reads.

        Their results need no memory then, such as derivatives, which would have to wait for all
        steps. Calls that read what lasts, such as weights, are left to be joined over all steps,
        unless they write a part of an array of the step.
        """
        own = {i for row in rows for i in row}
        waiting = list(rows)
        while waiting and len(rows) <= _MOST_CALLS:
            row = waiting.pop()
            call = self._calls[row[-1]]
            for position, ref in enumerate((*call.args, self._out(row[-1]))):
                for place, maker in enumerate(self._makers(ref, row[-1])):
                    if maker in own:
                        continue
                    found = self._source(row, position, place, own)
                    if found is not None:
                        own.update(found)
                        rows.append(found)
                        waiting.append(found)
                    elif position == len(call.args):
                        return None
        return rows

    def _source(self, row: list[int], position: int, place: int, own: set[int]) -> list[int] | None:
        """Returns the calls that write what each call of a row reads; None if they stay apart.

        Args:
            row: The calls of all steps.
            position: Position of the argument; the one after the last for the result.
            place: Which of the calls before.
            own: The calls of the recurrence.
        """
        found: list[int] = []
        for i in reversed(row):
            ref = (*self._calls[i].args, self._out(i))[position]
            maker = next(iter(self._makers(ref, i)[place : place + 1]), None)
            if maker is None or maker in own or maker not in self._names:
                break
            if found and not self._are_alike(maker, found[-1]):
                break
            if own.isdisjoint(self._writers[ref.buffer]):
                reads = [r.buffer.memory for r in references(self._calls[maker].args)]
                if not self._uses.readers[maker] <= own or any([m is not None for m in reads]):
                    break
            found.append(maker)
        # The first step may lack it.
        return found[::-1] if len(found) >= max(len(row) - 1, _FEWEST_CALLS) else None
