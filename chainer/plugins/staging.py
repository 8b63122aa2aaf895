"""Registration in two steps: all a pack says is collected, then put into the registries.

So a pack that fails midway leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from chainer.core.registry.registry import (
    Entry,
    NameConflictError,
    Provenance,
    Registry,
    check_entry,
)


class Staged(NamedTuple):
    """An entry waiting to be registered."""

    registry: Registry
    entry: Entry
    override: bool


class PackRegistry:
    """What a hook gets as ``registry``: registers names on behalf of one pack.

    Args:
        registry: The registry behind it.
        provenance: Who the pack is.

    Attributes:
        kind: Kind of the registry, such as ``'functions'``.
    """

    def __init__(self, registry: Registry, provenance: Provenance) -> None:
        self.kind = registry.kind
        self.staged: list[Staged] = []
        self._registry = registry
        self._provenance = provenance

    def register(self, name: str, target: Any, *, override: bool = False) -> None:
        """Registers an object or a lazy reference under a name.

        Args:
            name: The name.
            target: ``"module:attribute"``, imported when the name is first asked for, or an object.
            override: Whether to take the name from another owner. Without it the first owner keeps
                it, and a warning names both.
        """
        check_entry(self._registry, name, target)
        entry = Entry(name, target, self._provenance)
        for staged in self.staged:
            if staged.entry.name == name:
                raise NameConflictError(self._registry, staged.entry, entry)
        self.staged.append(Staged(self._registry, entry, override))


def commit(
    staged: Iterable[Staged], *, partial: bool
) -> tuple[list[tuple[Registry, Entry]], list[NameConflictError]]:
    """Puts staged entries into their registries.

    Args:
        staged: The entries.
        partial: Whether to go on with the other entries when a name belongs to somebody else.

    Returns:
        tuple: What was registered, and the conflicts.

    Raises:
        NameConflictError: At the first conflict if ``partial`` is False; nothing is left
            registered.
    """
    done: list[tuple[Registry, Entry]] = []
    conflicts: list[NameConflictError] = []
    for registry, entry, override in staged:
        try:
            registry.add(entry, override=override)
        except NameConflictError as error:
            if not partial:
                withdraw(done)
                raise
            conflicts.append(error)
        else:
            done.append((registry, entry))
    return done, conflicts


def withdraw(entries: Iterable[tuple[Registry, Entry]]) -> None:
    """Takes entries out of their registries."""
    for registry, entry in entries:
        registry.remove(entry)
