"""Copies of the state of a step, to restore it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy

from chainer.core.arrays.backend import backend_of, copied, copyto, is_array
from chainer.core.reporting.reporter import Reporter
from chainer.training.capturing.state import Role, StateTree, array_of, each_once, is_long
from chainer.training.optimizers.changes import optimizer_changes


class Snapshot:
    """A copy of the contents of all slots, of reported values and of random numbers.

    Arrays of the surroundings are not copied, since they may be whole datasets: a step that changes
    them in place is refused.
    """

    def __init__(self, tree: StateTree, reporter: Reporter | None) -> None:
        self.tree, self.reporter = tree, reporter
        self._observation = {} if reporter is None else dict(reporter.observation)
        self._contents = [(owner, owner.contents()) for owner in tree.owners]
        values: list[Any] = []
        self._containers: list[tuple[Any, Any]] = []
        for owner, contents in self._contents:
            for value in contents.values():
                self._containers += _containers_in(value)
            if owner.role is not Role.SURROUNDINGS:
                values += contents.values()
        arrays = filter(is_array, map(array_of, values))
        self._arrays = [(a, copied(a)) for a in each_once(arrays)]
        # Keys of random numbers that are arrays are state, as NumPy's generator is.
        backends = {backend_of(p.array) for p in tree.parameters if p.array is not None}
        self._keys = [(key, key.value) for b in backends for key in b.random_keys()]
        self._random = numpy.random.get_state()

    def restore(self) -> None:
        """Gives all slots the contents that they had. Arrays get their values in place."""
        for owner, contents in self._contents:
            owner.restore(contents)
        for container, contents in self._containers:
            if isinstance(container, list):
                container[:] = contents
            else:
                container.clear()
                container.update(contents)
        for array, values in self._arrays:
            copyto(array, values)
        if self.reporter is not None:
            self.reporter.observation.clear()
            self.reporter.observation.update(self._observation)
        for key, value in self._keys:
            key.write(value)
        numpy.random.set_state(self._random)
        optimizer_changes.renew()


def _containers_in(value: object) -> Iterator[tuple[object, object]]:
    """Yields lists, dicts and sets, also within others, and shallow copies of them."""
    if is_long(value):
        return
    if type(value) in (list, dict, set):
        yield value, cast("list[object]", value).copy()
    if type(value) in (list, tuple, dict):
        inner = value.values() if isinstance(value, dict) else cast("list[object]", value)
        for part in inner:
            yield from _containers_in(part)
