"""Tests of how a certification shares its tests between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from chainer.testing.certification.shares import share_of


@dataclass(frozen=True)
class Item:
    nodeid: str


def make(*ids: str) -> list[Any]:
    return [Item(f"test_file.py::{name}") for name in ids]


def rows(tests: int, functions: int) -> list[Any]:
    names = [f"test_{i}[f{j}-float32]" for i in range(tests) for j in range(functions)]
    return make(*names)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "items",
    [
        [],
        make("test_a"),
        make("test_a[x]", "test_b[x]", "test_c"),
        rows(4, 100),
        rows(50, 1),
        rows(1, 50),
        make("test_a", "test_a", "test_a"),  # a test that is collected twice runs twice
    ],
)
def test_each_test_belongs_to_one_process_and_work_is_even(items: list[Any], count: int) -> None:
    shares = [share_of(items, number, count) for number in range(count)]
    assert sorted(item.nodeid for share in shares for item in share) == sorted(
        item.nodeid for item in items
    )
    for share in shares:
        assert [items.index(item) for item in share] == sorted(items.index(item) for item in share)
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= max(1, len(items) / count / 8)


@pytest.mark.parametrize("count", [2, 4])
def test_the_tests_of_a_function_stay_together(count: int) -> None:
    items = rows(10, 100)
    shares = [share_of(items, number, count) for number in range(count)]
    functions = [{item.nodeid.split("[")[1] for item in share} for share in shares]
    assert sum(map(len, functions)) == len(set.union(*functions)) == 100


def test_a_parameter_of_most_tests_does_not_make_one_group() -> None:
    items = make(*(f"test_{i}[float32]" for i in range(90)), *(f"other_{i}" for i in range(10)))
    assert [len(share_of(items, number, 2)) for number in range(2)] == [50, 50]
