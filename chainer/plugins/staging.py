"""Registration in two steps: what a pack registers is collected, then added to the registries.

So a pack that fails halfway does not register anything.
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
    """An entry that is not registered yet."""

    registry: Registry
    entry: Entry
    override: bool


class PackRegistry:
    """The argument ``registry`` of a hook: registers names for one pack.

    Args:
        registry: The registry.
        provenance: Name and distribution of the pack.

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
            target: ``"module:attribute"``, which is imported when the name is first used, or an
                object.
            override: Whether to replace an entry of the same name. Without it the first owner keeps
                the name, and a warning names both.
        """
        check_entry(self._registry, name, target)
        entry = Entry(name, target, self._provenance, self._registry.requirement)
        # The registry does not know the names that this pack is about to register.
        for staged in self.staged:
            if staged.entry.name == name:
                raise NameConflictError(self._registry, staged.entry, entry)
        self.staged.append(Staged(self._registry, entry, override))


def commit(
    staged: Iterable[Staged], *, partial: bool
) -> tuple[list[tuple[Registry, Entry]], list[NameConflictError]]:
    """Adds staged entries to their registries.

    Args:
        staged: The entries.
        partial: Whether to continue with the other entries if a name is registered already.

    Returns:
        tuple: The registered entries, and the conflicts.

    Raises:
        NameConflictError: At the first conflict if ``partial`` is False. None of the entries is
            registered then.
    """
    done: list[tuple[Registry, Entry]] = []
    conflicts: list[NameConflictError] = []
    for registry, entry, override in staged:
        try:
            registry.add(entry, override=override)
        except NameConflictError as error:
            if not partial:
                # It is not an alternative either, see Registry.get().
                registry.remove(entry)
                # All or nothing: what was registered before the conflict goes, too.
                withdraw(done)
                raise
            conflicts.append(error)
        else:
            done.append((registry, entry))
    return done, conflicts


def withdraw(entries: Iterable[tuple[Registry, Entry]]) -> None:
    """Removes entries from their registries.

    Args:
        entries: Pairs of registry and entry.
    """
    for registry, entry in entries:
        registry.remove(entry)
