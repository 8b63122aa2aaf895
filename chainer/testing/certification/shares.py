"""Shares tests between processes, so that tests which need the same compiled code stay together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

#: No group of tests has more than this part of the work of a process. Larger ones are split.
_LARGEST_PART = 1 / 8


def share_of(items: Sequence[pytest.Item], number: int, count: int) -> list[pytest.Item]:
    """Returns the tests of one process.

    Libraries such as JAX and Numba compile a program for each shape and dtype, once in a process.
    The tests of one function have the same inputs in turn: forward, backward, in each layout. So
    tests whose first parameter is the same go to the same process.

    Args:
        items: All tests. They are the same in each process, in the same order.
        number: Number of the process, from 0.
        count: Number of processes.

    Returns:
        list: The tests, in their order.
    """
    groups: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        groups.setdefault(_subject(item), []).append(i)
    largest = max(1, int(_LARGEST_PART * len(items) / count))
    loads = [0] * count
    own: list[int] = []
    for group in groups.values():
        # A dtype may be the first parameter of half of the tests.
        for part in [group] if len(group) <= largest else [[i] for i in group]:
            place = loads.index(min(loads))
            loads[place] += len(part)
            if place == number:
                own += part
    return [items[i] for i in sorted(own)]


def _subject(item: pytest.Item) -> str:
    """Returns the first parameter of a test as its id has it, or the id if it has none."""
    _, bracket, parameters = item.nodeid.partition("[")
    return parameters.rstrip("]").partition("-")[0] if bracket else item.nodeid
