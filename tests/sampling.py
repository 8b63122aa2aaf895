"""Samples of combinations: the marker ``sampled`` and the option ``--all-combinations``.

A test of 40 functions in three dtypes and four layouts has 480 combinations, most of which run the
same lines. With ``@pytest.mark.sampled(4)`` one in four of them runs, always the same ones, and
each value of each parameter is in one of them. ``make test ARGS=--all-combinations`` runs all.

A table of cases is not made smaller by this: each of its values occurs once.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import pytest


class Call(Protocol):
    """One combination of parameters: pytest's class ``CallSpec2``."""

    params: dict[str, Any]

    @property
    def id(self) -> str: ...


_C = TypeVar("_C", bound=Call)


def keep_sample(metafunc: pytest.Metafunc) -> None:
    """Leaves out combinations of a test that is marked ``sampled(every, always={...})``."""
    mark = metafunc.definition.get_closest_marker("sampled")
    if mark is not None and not metafunc.config.getoption("--all-combinations"):
        # Combinations that are left out here cost nothing: pytest makes no test of them. The
        # public hooks come later, and making the tests takes a millisecond each.
        metafunc._calls[:] = sample(
            metafunc._calls, metafunc.definition.nodeid, *mark.args, **mark.kwargs
        )


def sample(
    calls: Sequence[_C], name: str, every: int, always: Mapping[str, Any] | None = None
) -> list[_C]:
    """Returns one in ``every`` combinations, and those that a value needs to be in one.

    Args:
        calls: The combinations.
        name: Name of the test: the choice depends on it and on the names of the values.
        every: How many combinations there are to one that runs.
        always: Values of parameters; combinations that have all of them run in any case.

    Returns:
        list: The combinations that run, in their order.
    """
    always = always or {}
    chosen = {
        number
        for number, call in enumerate(calls)
        if zlib.crc32(f"{name}[{call.id}]".encode()) % every == 0
        or (always and all(call.params.get(key) == value for key, value in always.items()))
    }
    seen = {value for number in chosen for value in _values(calls[number])}
    for number, call in enumerate(calls):
        if number not in chosen and not seen.issuperset(values := _values(call)):
            chosen.add(number)
            seen |= values
    return [call for number, call in enumerate(calls) if number in chosen]


def _values(call: Call) -> set[tuple[str, object]]:
    """Returns the parameters of a combination and their values, as far as they can be compared."""
    found: set[tuple[str, object]] = set()
    for name, value in call.params.items():
        try:
            hash(value)
        except TypeError:  # lists, dicts: told apart by what they print
            value = repr(value)
        found.add((name, value))
    return found
