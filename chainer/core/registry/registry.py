"""Registries: tables of everything a user can name.

A registry maps names to *entries*. An entry holds an object or a lazy reference
``"module:attribute"`` to one, and knows who registered it. Nothing is imported before its name is
asked for.

The core knows no plugins. Whoever can bring more entries installs itself as the :class:`Source` of
the registry and is asked at two moments only: at the first use (for what belongs to the framework
itself) and when a name is missing (for everything else that is installed).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from chainer.core.registry.entry import Entry, EntryLoadError, Provenance

__all__ = [
    "Absentee",
    "Entry",
    "EntryLoadError",
    "NameConflictError",
    "Provenance",
    "Registry",
    "Source",
    "UnknownNameError",
    "check_entry",
]

_NEAR_MATCHES = 3


class Absentee(NamedTuple):
    """A plugin that is installed but supplies nothing, with the reason.

    Attributes:
        description: Who it is and why it is absent, in words.
        error: The exception that kept it from loading; None where there was none (it is blocked).
    """

    description: str
    error: BaseException | None


class Source(Protocol):
    """What can bring more entries into a registry."""

    def prepare(self, registry: Registry) -> bool:
        """Registers what belongs to the framework itself. Called at the first use of the registry.

        Returns:
            bool: Whether everything is there. False if this thread is in the midst of preparing.
        """
        ...

    def complete(self, registry: Registry) -> None:
        """Registers everything else that is installed. Called when a name is missing."""
        ...

    def absentees(self, registry: Registry) -> Sequence[Absentee]:
        """Returns the installed plugins that supply nothing, for error messages."""
        ...


class UnknownNameError(AttributeError, KeyError):
    """A name that no entry of the registry has.

    It is a KeyError (a LookupError) for those who ask a registry and an AttributeError for those
    who ask a module such as ``chainer.functions``.
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NameConflictError(ValueError):
    """A name that already has another owner.

    Attributes:
        owner: The entry that keeps the name.
        claimant: The entry that asked for it.
    """

    def __init__(self, registry: Registry, owner: Entry, claimant: Entry) -> None:
        super().__init__(
            f"{registry.singular} {owner.name!r} is claimed by {claimant.origin} "
            f"(as {claimant.text}), but {owner.origin} (as {owner.text}) already owns it "
            "and keeps it; register with override=True to replace it on purpose"
        )
        self.owner = owner
        self.claimant = claimant


class Registry:
    """A table of names of one kind.

    Looking up a name that is there takes no lock. All methods may be called from any thread.

    Args:
        kind: What it holds, in the plural: ``'functions'``.
        singular: One of them, for messages; the kind without its final "s" by default.

    Example:
        >>> from chainer.core.registry.registry import Registry
        >>> codecs = Registry("codecs")
        >>> codecs.register("json", "json:dumps")
        >>> codecs.get("json")([1])
        '[1]'
        >>> codecs.get("jsn")
        Traceback (most recent call last):
        chainer.core.registry.registry.UnknownNameError: no codec named 'jsn'; did you mean 'json'?
    """

    def __init__(self, kind: str, singular: str | None = None) -> None:
        self.kind = kind
        self.singular = kind.removesuffix("s").replace("_", " ") if singular is None else singular
        self._entries: dict[str, Entry] = {}
        # Entries that were replaced on purpose, oldest first; they come back when the other leaves.
        self._shadowed: dict[str, list[Entry]] = {}
        self._listeners: list[Callable[[str], object]] = []
        self._lock = threading.RLock()
        self._source: Source | None = None
        self._prepared = True

    # Filling

    def register(
        self,
        name: str,
        target: Any,
        *,
        provenance: Provenance | None = None,
        override: bool = False,
    ) -> None:
        """Registers an object or a lazy reference under a name.

        Args:
            name: The name.
            target: The object, or ``"module:attribute"``, imported when the name is first asked
                for.
            provenance: Who registers it.
            override: Whether to take the name from its present owner. Without it, the first owner
                keeps a name.

        Raises:
            NameConflictError: If the name has an owner and ``override`` is False.
            ValueError: If a lazy reference is malformed.
            TypeError: If the name is no string.
        """
        check_entry(self, name, target)
        self._prepare()
        self.add(Entry(name, target, provenance), override=override)

    def add(self, entry: Entry, *, override: bool = False) -> None:
        """Adds an entry without asking the source first; meant for sources.

        Args:
            entry: The entry.
            override: Whether to take the name from its present owner.

        Raises:
            NameConflictError: If the name has an owner and ``override`` is False.
        """
        with self._lock:
            owner = self._entries.get(entry.name)
            if owner is not None:
                if not override:
                    raise NameConflictError(self, owner, entry)
                self._shadowed.setdefault(entry.name, []).append(owner)
            self._entries[entry.name] = entry
        self._notify(entry.name)

    def unregister(self, name: str) -> Entry:
        """Takes the present owner of a name away; whom it had replaced gets the name back.

        Args:
            name: The name.

        Returns:
            Entry: The entry that was removed.

        Raises:
            UnknownNameError: If there is no such name.
        """
        entry = self.entry(name)
        self.remove(entry)
        return entry

    def remove(self, entry: Entry) -> None:
        """Removes one entry, whether it owns its name at present or was replaced by another.

        Removing an entry that is not there has no effect.

        Args:
            entry: The entry.
        """
        with self._lock:
            shadowed = self._shadowed.get(entry.name, [])
            if self._entries.get(entry.name) is entry:
                if shadowed:
                    self._entries[entry.name] = shadowed.pop()
                else:
                    del self._entries[entry.name]
            elif entry in shadowed:
                shadowed.remove(entry)
            if not shadowed:
                self._shadowed.pop(entry.name, None)
        self._notify(entry.name)

    # Looking up

    def get(self, name: str) -> Any:
        """Returns the object of a name, importing it at first use.

        Args:
            name: The name.

        Raises:
            UnknownNameError: If no installed plugin supplies the name. The message lists similar
                names and plugins that failed; the error of the first of those is the cause.
            EntryLoadError: If the object cannot be imported; the cause is chained.
        """
        entry = self._entries.get(name)
        return (self.entry(name) if entry is None else entry).load()

    def entry(self, name: str) -> Entry:
        """Returns the entry of a name, without importing what it stands for.

        Args:
            name: The name.

        Raises:
            UnknownNameError: If no installed plugin supplies the name.
        """
        entry = self.find(name)
        if entry is None:
            self.load_all()
            entry = self._entries.get(name)
            if entry is None:
                raise self._unknown(name)
        return entry

    def find(self, name: str) -> Entry | None:
        """Returns the entry of a name if the plugins loaded so far supply it, else None.

        Args:
            name: The name.
        """
        entry = self._entries.get(name)
        if entry is None and not self._prepared:
            self._prepare()
            entry = self._entries.get(name)
        return entry

    def names(self) -> list[str]:
        """Returns the names registered so far, sorted (after :meth:`load_all`, all there are)."""
        return sorted(self._snapshot())

    def entries(self) -> list[Entry]:
        """Returns the entries registered so far, sorted by name."""
        snapshot = self._snapshot()
        return [snapshot[name] for name in sorted(snapshot)]

    def load_all(self) -> None:
        """Lets every installed plugin register its names."""
        self._prepare()
        if self._source is not None:
            self._source.complete(self)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if self.find(name) is None:
            self.load_all()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self._snapshot())

    def __repr__(self) -> str:
        return f"<registry of {len(self._entries)} {self.kind}>"

    # Others

    def add_listener(self, listener: Callable[[str], object]) -> None:
        """Has a function called with the name whenever an entry is added, replaced or removed.

        Args:
            listener: Function of one argument, the name.
        """
        self._listeners.append(listener)

    def set_source(self, source: Source | None) -> None:
        """Installs what can bring more entries.

        Args:
            source: The source; None removes the present one.
        """
        self._source = source
        self._prepared = source is None

    def _prepare(self) -> None:
        if not self._prepared and self._source is not None:
            self._prepared = self._source.prepare(self)

    def _snapshot(self) -> dict[str, Entry]:
        self._prepare()
        with self._lock:
            return dict(self._entries)

    def _notify(self, name: str) -> None:
        for listener in tuple(self._listeners):
            listener(name)

    def _unknown(self, name: str) -> UnknownNameError:
        import difflib  # costs milliseconds; needed for an error only

        message = f"no {self.singular} named {name!r}"
        near = difflib.get_close_matches(name, self._snapshot(), n=_NEAR_MATCHES)
        if near:
            message += f"; did you mean {' or '.join(map(repr, near))}?"
        absentees = [] if self._source is None else list(self._source.absentees(self))
        if absentees:
            message += "\nPlugins that could have supplied it but are absent:"
            message += "".join(f"\n  {absentee.description}" for absentee in absentees)
        error = UnknownNameError(message)
        error.__cause__ = next((a.error for a in absentees if a.error is not None), None)
        return error


def check_entry(registry: Registry, name: object, target: object) -> None:
    """Raises if a name or a target cannot be registered.

    Args:
        registry: The registry, for the message.
        name: Must be a non-empty string.
        target: An object; if it is a string, it must look like ``"package.module:attribute"``.
    """
    if not isinstance(name, str):
        raise TypeError(f"name of a {registry.singular} must be a string, got {name!r}")
    if not name:
        raise ValueError(f"name of a {registry.singular} must not be empty")
    if isinstance(target, str):
        module, _, attribute = target.partition(":")
        parts = [*module.split("."), *attribute.split(".")]
        if not all(part.isidentifier() for part in parts):
            raise ValueError(
                f"lazy reference of {registry.singular} {name!r} must look like "
                f"'package.module:attribute', got {target!r}"
            )
