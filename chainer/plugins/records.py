"""The record of a plugin: its state, and what it registered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from chainer.core.registry.registry import Entry, NameConflictError, Provenance, Registry
from chainer.core.registry.requirements import describe_error
from chainer.plugins.discovery import normalize
from chainer.plugins.staging import Staged

State = Literal["found", "blocked", "incompatible", "loaded", "failed"]
"""``found``: installed, not imported yet. ``blocked``: switched off.
``incompatible``: written for another version of the plugin API. ``loaded``: its names are
registered. ``failed``: it raised an error, implements an unknown hook, or its entry point is
malformed."""


# Compared by identity: two records of one plugin would be a mistake.
@dataclass(eq=False)
class PluginRecord:
    """One plugin: a pack that was found, or an object registered at run time.

    Attributes:
        name: Name of the entry point; for an object registered at run time its name.
        distribution: Name of the distribution; empty for an object registered at run time.
        version: Version of the distribution.
        target: Module (or ``module:object``) of the entry point.
        builtin: Whether it is a part of Chainer itself.
        location: Metadata folder in which it was found; empty if there is none.
        state: One of :data:`State`.
        error: The reason for the state ``failed`` or ``incompatible``.
        blocked_by: The reason for the state ``blocked``.
        conflicts: Names that it did not get, because they were registered already.
        refused: Entries with ``override=True`` that it did not register, because the user has not
            enabled it.
        seconds: Time that importing and registering took; None before.
        enabled: Whether the user enabled it by name or registered it at run time. Only then are its
            hooks for training events called, and its entries with ``override=True`` used.
        entries: Its registrations: pairs of registry and entry.
        plugin: The module or object, after the import.
        reported: Whether the user was warned of its problem.

    Example:
        >>> (record,) = chainer.plugins.load("links")
        >>> record.state, record.distribution, record.builtin, record.problem
        ('loaded', 'chainer', True, '')
    """

    name: str
    distribution: str
    version: str
    target: str
    builtin: bool = False
    location: str = ""
    state: State = "found"
    error: BaseException | None = None
    blocked_by: str = "CHAINER_DISABLE_PLUGINS"
    conflicts: list[NameConflictError] = field(default_factory=list[NameConflictError])
    refused: list[Staged] = field(default_factory=list[Staged])
    seconds: float | None = None
    enabled: bool = False
    entries: list[tuple[Registry, Entry]] = field(default_factory=list[tuple[Registry, Entry]])
    plugin: Any = None
    reported: bool = False

    @property
    def provenance(self) -> Provenance:
        """Its name and distribution, as its entries show them."""
        return Provenance(self.distribution, self.version, self.name)

    @property
    def problem(self) -> str:
        """Why it is not loaded, or which names it did not get; empty if nothing is wrong."""
        if self.state == "blocked":
            return f"blocked by {self.blocked_by}"
        # An error is the cause; conflicts of a plugin that failed are consequences.
        if self.error is not None:
            return describe_error(self.error)
        return "; ".join(map(str, self.conflicts))

    def matches(self, name: str) -> bool:
        """Returns whether a name belongs to the entry point or to the distribution.

        Args:
            name: Name that the user gave.
        """
        if name == self.name:
            return True
        return bool(self.distribution) and normalize(name) == normalize(self.distribution)

    def registered_names(self) -> dict[str, list[str]]:
        """Returns the names that it registered, by kind of registry."""
        result: dict[str, list[str]] = {}
        for registry, entry in self.entries:
            result.setdefault(registry.kind, []).append(entry.name)
        return {kind: sorted(names) for kind, names in sorted(result.items())}

    def replaced_names(self) -> list[str]:
        """Returns what it replaces, such as ``"function 'relu'"``."""
        return [
            f"{registry.singular} {entry.name!r}"
            for registry, entry in self.entries
            if registry.find(entry.name) is entry and registry.replaced(entry.name) is not None
        ]

    def refused_names(self) -> list[str]:
        """Returns what it would replace if the user enabled it, such as ``"function 'relu'"``."""
        return [f"{item.registry.singular} {item.entry.name!r}" for item in self.refused]

    def event_hooks(self) -> list[str]:
        """Returns the names of its hooks for events, if it is loaded."""
        if self.plugin is None:
            return []
        from chainer.plugins.hooks import event_hook_names  # imports pluggy

        return [n for n in event_hook_names() if callable(getattr(self.plugin, n, None))]

    def remarks(self) -> list[str]:
        """Returns sentences about overrides and event hooks, in effect or not."""
        enable = f"chainer.plugins.enable({self.name!r}) or CHAINER_ENABLE_PLUGINS={self.name}"
        unless = f"unless it is enabled: {enable}"
        found: list[str] = []
        if replaced := self.replaced_names():
            found.append(f"it replaces {', '.join(replaced)}")
        if refused := self.refused_names():
            found.append(f"it does not replace {', '.join(refused)} {unless}")
        hooks = self.event_hooks()
        if hooks and not self.enabled:
            found.append(f"its hooks {', '.join(hooks)} are not called {unless}")
        return found

    def summary(self) -> str:
        """Returns how many names it registered, such as ``'2 functions, 1 link'``."""
        counts: dict[str, tuple[Registry, int]] = {}
        for registry, _ in self.entries:
            counts[registry.kind] = (registry, counts.get(registry.kind, (registry, 0))[1] + 1)
        return ", ".join(
            f"{count} {registry.singular if count == 1 else kind.replace('_', ' ')}"
            for kind, (registry, count) in sorted(counts.items())
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns the record as a dictionary for JSON."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "target": self.target,
            "builtin": self.builtin,
            "location": self.location,
            "state": self.state,
            "error": self.problem or None,
            "conflicts": [str(conflict) for conflict in self.conflicts],
            "seconds": self.seconds,
            "enabled": self.enabled,
            "registered": self.registered_names(),
            "replaced": self.replaced_names(),
            "refused": self.refused_names(),
            "event_hooks": self.event_hooks(),
        }
