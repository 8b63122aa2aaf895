"""Tests of how a certification shares its tests between processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chainer.testing.certification.shares import TakenGroups, groups_of


@dataclass(frozen=True)
class Item:
    nodeid: str


def make(*ids: str) -> list[Any]:
    return [Item(f"test_file.py::{name}") for name in ids]


def rows(tests: int, functions: int) -> list[Any]:
    names = [f"test_{i}[f{j}-float32]" for i in range(tests) for j in range(functions)]
    return make(*names)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize(
    "items",
    [
        [],
        make("test_a"),
        make("test_a[x]", "test_b[x]", "test_c"),
        rows(4, 100),
        rows(50, 1),
        rows(1, 50),
    ],
)
def test_each_test_is_in_one_group(items: list[Any], count: int) -> None:
    groups = groups_of(items, count)
    found = [item.nodeid for group in groups for item in group]
    assert sorted(found) == sorted(item.nodeid for item in items)
    assert max(map(len, groups), default=0) <= max(1, len(items) / count / 8)


def test_the_tests_of_a_function_are_a_group() -> None:
    groups = groups_of(rows(10, 100), 2)
    assert len(groups) == 100
    for group in groups:
        assert len({item.nodeid.split("[")[1] for item in group}) == 1


def test_a_parameter_of_most_tests_does_not_make_one_group() -> None:
    items = make(*(f"test_{i}[float32]" for i in range(90)), *(f"other_{i}" for i in range(10)))
    assert len(groups_of(items, 2)) == 100


def test_processes_take_groups_in_turn(tmp_path: Path) -> None:
    groups = groups_of(rows(2, 20), 1)
    first, second = (TakenGroups(tmp_path, owner) for owner in ("0", "1"))
    of_first, of_second = first.of(groups), second.of(groups)
    fast = [next(of_first) for _ in range(6)]
    slow = [next(of_second)]
    fast += list(of_first)
    slow += list(of_second)
    assert len(slow) == 2  # one group: the other process has taken the rest
    assert {item.nodeid for item in fast} | {item.nodeid for item in slow} == {
        item.nodeid for group in groups for item in group
    }
    # A process that follows has the groups of the one before, and no others.
    assert list(TakenGroups(tmp_path, "1").of(groups)) == slow
    assert list(TakenGroups(tmp_path, "2").of(groups)) == []
