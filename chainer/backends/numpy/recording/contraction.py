"""Groups of recorded calls that are made at once, and the order in which that is possible."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from typing import TypeVar

from chainer.backends.numpy.recording.dependencies import Dependencies, ReadyCalls

_Group = TypeVar("_Group", bound="Collection[int]")


def contracted_order(groups: Sequence[Collection[int]], uses: Dependencies) -> list[int]:
    """Returns the numbers of the calls in an order in which each group is made at once.

    A group has the number of all calls plus its place. The order is shorter if there is none.

    Args:
        groups: The numbers of the calls of each group.
        uses: Which calls have to follow which.
    """
    count = len(uses.before)
    node = list(range(count))
    for n, group in enumerate(groups):
        for i in group:
            node[i] = count + n
    before: dict[int, set[int]] = {i: set() for i in node}
    for i, earlier in enumerate(uses.before):
        before[node[i]].update([node[j] for j in earlier])
    for i, earlier in before.items():
        earlier.discard(i)

    def priority(i: int) -> tuple[int, int]:
        # In the order of the calls as far as possible, because memory is planned for it.
        return (i, i) if i < count else (min(groups[i - count]), i)

    calls = ReadyCalls(before)
    ready = [priority(i) for i in calls.ready]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, i = heapq.heappop(ready)
        order.append(i)
        for j in calls.make(i):
            heapq.heappush(ready, priority(j))
    return order


def without_cycles(groups: Sequence[_Group], uses: Dependencies) -> list[_Group]:
    """Returns the groups that can be made at once, each after what it needs.

    Args:
        groups: The numbers of the calls of each group.
        uses: Which calls have to follow which.
    """
    if _can_be_made(groups, uses):  # nearly always, and each question takes as long as the program
        return list(groups)
    kept: list[_Group] = []
    for group in groups:
        if _can_be_made([*kept, group], uses):
            kept.append(group)
    return kept


def _can_be_made(groups: Sequence[Collection[int]], uses: Dependencies) -> bool:
    """Returns whether no group needs, directly or not, what another one needs it for."""
    nodes = len(uses.before) - sum([len(group) - 1 for group in groups])
    return len(contracted_order(groups, uses)) == nodes
