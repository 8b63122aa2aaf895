"""Entries of dictionaries that have to be as they were."""

from __future__ import annotations

import reprlib
from operator import itemgetter
from typing import Any

from chainer.core.arrays.backend import is_array
from chainer.core.autograd.parameter import Parameter
from chainer.training.capturing.targets import Slot

_MISSING = object()


class Places:
    """Places that must hold what they held when a step was recorded.

    Args:
        objects: Dictionaries, keys and values that must stay the same objects: arrays, parameters
            and others.
        values: Slots whose values must stay equal to the given ones: plain values, functions and
            containers.
        sizes: Containers and the number of entries that each must keep.
    """

    def __init__(
        self,
        objects: list[tuple[dict[str, Any], str, Any]],
        values: list[tuple[Slot, Any]],
        sizes: list[tuple[Any, int]],
    ) -> None:
        self._objects = objects
        self._values = values
        self._sizes = sizes
        self._identical = [(m, n, v) for m, n, v in objects if not is_told_by_comparison(v)]
        entries = [(m, n, v) for m, n, v in objects if is_told_by_comparison(v)]
        # Lists for hold(), which has to be quick: models may have hundreds of links.
        compared = self._compare([*entries, *[(slot.members, slot.name, v) for slot, v in values]])
        counted = [(c, size) for c, size in sizes if id(c) not in compared]
        self._containers = [container for container, _ in counted]
        self._lengths = [size for _, size in counted]

    def _compare(self, entries: list[tuple[dict[str, Any], str, Any]]) -> set[int]:
        """Prepares the comparison of entries of dictionaries.

        Returns:
            set of int: Identities of the dictionaries that are compared as a whole.
        """
        by_owner: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        for members, name, value in entries:
            by_owner.setdefault(id(members), (members, {}))[1][name] = value
        # Usually all entries are watched. Comparing two dictionaries takes half as long as getting
        # the entries and comparing these.
        whole = [pair for pair in by_owner.values() if pair[0].keys() == pair[1].keys()]
        parts = [pair for pair in by_owner.values() if pair[0].keys() != pair[1].keys()]
        self._whole = [members for members, _ in whole]
        self._expected_whole = [found for _, found in whole]
        # An itemgetter of several entries returns a tuple; one of a single entry returns its value.
        self._getters = [(itemgetter(*found), members) for members, found in parts]
        self._expected_parts = [
            tuple(found.values()) if len(found) > 1 else next(iter(found.values()))
            for _, found in parts
        ]
        return set(map(id, self._whole))

    def hold(self) -> bool:
        """Returns whether nothing has changed. If something has, :meth:`changed` returns what.

        Raises:
            KeyError: If something was deleted.
            TypeError, ValueError, NotImplementedError: If a number is an array or a Variable now.
        """
        return (
            self._whole == self._expected_whole
            and list(map(len, self._containers)) == self._lengths
            and all([members[name] is value for members, name, value in self._identical])
            and [getter(members) for getter, members in self._getters] == self._expected_parts
        )

    def changed(self) -> str | None:
        """Returns what has changed; None if nothing has."""
        for container, size in self._sizes:
            if len(container) != size:
                return "attributes or parameters were added or removed"
        for members, name, value in self._objects:
            if members.get(name) is not value:
                return f"{name!r} was replaced"
        for slot, value in self._values:
            now = slot.members.get(slot.name, _MISSING)
            if now is not value and not _are_equal(now, value):
                return f"{slot} was {reprlib.repr(value)} and is {reprlib.repr(now)}"
        return None


def is_told_by_comparison(value: Any) -> bool:
    """Returns whether ``==`` distinguishes an object from every other object.

    Python compares lists of such objects several times as fast as a loop with ``is`` does. Arrays
    of more than one element qualify too: comparing them with another object gives an array, whose
    truth value is an error, which callers take for a change.
    """
    if is_array(value):
        return value.size > 1
    # A comparison of a Variable with another object raises NotImplementedError.
    return isinstance(value, Parameter) or type(value).__eq__ is object.__eq__


def _are_equal(first: Any, second: Any) -> bool:
    try:
        return bool(first == second)
    except (TypeError, ValueError, NotImplementedError):
        return False  # such as an array in place of a number
