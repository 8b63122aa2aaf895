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
from chainer.plugins.errors import PluginError


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
        staged: The registered entries.
        open: Whether names can be registered: as long as the hook runs.
    """

    def __init__(self, registry: Registry, provenance: Provenance) -> None:
        self.kind = registry.kind
        self.staged: list[Staged] = []
        self.open = True
        self._registry = registry
        self._provenance = provenance

    def register(self, name: str, target: Any, *, override: bool = False) -> None:
        """Registers an object or a lazy reference under a name.

        Args:
            name: The name.
            target: ``"module:attribute"``, which is imported when the name is first used, or an
                object.
            override: Whether to replace an entry of the same name, which happens only if the user
                enables the plugin. Without it the first owner keeps the name, and a warning names
                both.

        Raises:
            PluginError: If the hook has returned already.
        """
        if not self.open:
            raise PluginError(
                f"{self._provenance} cannot register {self._registry.singular} {name!r} any more: "
                "names are registered while its hook runs"
            )
        check_entry(self._registry, name, target)
        entry = Entry(name, target, self._provenance, self._registry.requirement)
        # The registry does not know the names that this pack is about to register.
        for staged in self.staged:
            if staged.entry.name == name:
                raise NameConflictError(self._registry, staged.entry, entry)
        self.staged.append(Staged(self._registry, entry, override))


class Committed(NamedTuple):
    """The fate of staged entries.

    Attributes:
        entries: The registered entries.
        conflicts: Names that have another owner.
        refused: Entries that would replace others, of a plugin that the user has not enabled.
    """

    entries: list[tuple[Registry, Entry]]
    conflicts: list[NameConflictError]
    refused: list[Staged]


def commit(staged: Iterable[Staged], *, partial: bool, overrides: bool) -> Committed:
    """Adds staged entries to their registries.

    Args:
        staged: The entries.
        partial: Whether to continue with the other entries if a name is registered already.
        overrides: Whether entries may replace others, because the user enabled the plugin.

    Returns:
        Committed: The registered entries, and the others.

    Raises:
        NameConflictError: At the first conflict if ``partial`` is False. None of the entries is
            registered then.
    """
    done: list[tuple[Registry, Entry]] = []
    conflicts: list[NameConflictError] = []
    refused: list[Staged] = []
    for item in staged:
        registry, entry, override = item
        if override and not overrides and registry.has(entry.name):
            refused.append(item)
            continue
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
    return Committed(done, conflicts, refused)


def withdraw(entries: Iterable[tuple[Registry, Entry]]) -> None:
    """Removes entries from their registries.

    Args:
        entries: Pairs of registry and entry.
    """
    for registry, entry in entries:
        registry.remove(entry)
