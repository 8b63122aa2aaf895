"""Shares tests between processes, so that tests which need the same compiled code stay together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

#: No group of tests has more than this part of the work of a process. Larger ones are split.
_LARGEST_PART = 1 / 8


def groups_of(items: Sequence[pytest.Item], count: int) -> list[list[pytest.Item]]:
    """Returns groups of tests, each of which one process runs.

    Libraries such as JAX and Numba compile a program for each shape and dtype, once in a process.
    The tests of one function have the same inputs in turn: forward, backward, in each layout. So
    tests whose first parameter is the same are a group.

    Args:
        items: All tests.
        count: Number of processes.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(_subject(item), []).append(item)
    largest = max(1, int(_LARGEST_PART * len(items) / count))
    found: list[list[pytest.Item]] = []
    for group in groups.values():
        # A dtype may be the first parameter of half of the tests.
        found += [group] if len(group) <= largest else [[item] for item in group]
    return found


def _subject(item: pytest.Item) -> str:
    """Returns the first parameter of a test as its id has it, or the id if it has none."""
    _, bracket, parameters = item.nodeid.partition("[")
    return parameters.rstrip("]").partition("-")[0] if bracket else item.nodeid


class TakenGroups:
    """Takes groups of tests that no other process has taken.

    A process takes the next group when it has done the one before: some take much longer than
    others. A process that starts again after a crash still has its groups.

    Args:
        folder: Folder that the processes share. A file is made for each group that is taken.
        owner: Name of this process, which the one that follows after a crash has, too.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self._folder = folder
        self._owner = owner
        self._mark = folder / f"owner {owner}"
        self._mark.write_text(owner, encoding="utf-8")

    def take(self, number: int) -> bool:
        """Returns whether a group is for this process.

        Args:
            number: Number of the group. It is the same in all processes.
        """
        file = self._folder / str(number)
        try:
            os.link(self._mark, file)  # at once with its content
        except FileExistsError:
            return file.read_text(encoding="utf-8") == self._owner
        return True

    def of(self, groups: Sequence[Sequence[pytest.Item]]) -> Iterator[pytest.Item]:
        """Yields the tests of the groups that this process takes.

        Args:
            groups: All groups, in the same order in all processes.
        """
        for number, group in enumerate(groups):
            if self.take(number):
                yield from group
