"""Registries: tables of everything that a user can name.

A registry maps names to *entries*. An entry holds an object or a lazy reference
``"module:attribute"`` to one, and knows which plugin registered it. Nothing is imported before its
name is used.

The core does not know plugins. The plugin host is the :class:`EntryProvider` of every registry. A
registry calls it at two moments only. At its first use, it asks for the entries of the framework
itself. When a name is missing, it asks for the entries of all installed plugins.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from chainer.core.foreign_names import name_hint
from chainer.core.registry.entry import Entry, EntryLoadError, Provenance
from chainer.core.registry.requirements import Requirement, describe

__all__ = [
    "Entry",
    "EntryLoadError",
    "EntryProvider",
    "NameConflictError",
    "Provenance",
    "Registry",
    "UnavailablePlugin",
    "UnknownNameError",
    "check_entry",
]

#: Number of similar names that an error message suggests.
_MAX_SUGGESTIONS = 3


class UnavailablePlugin(NamedTuple):
    """A plugin that is installed but was not loaded.

    Attributes:
        description: Its name and distribution, and why it was not loaded.
        error: The exception that its import raised; None if the plugin is blocked.
    """

    description: str
    error: BaseException | None


class EntryProvider(Protocol):
    """Adds entries to registries when they are needed; the plugin host is one."""

    def load_builtin(self, registry: Registry) -> bool:
        """Registers the entries of the framework itself. Called at the first use of a registry.

        Args:
            registry: The registry.

        Returns:
            bool: True if all of them are registered. False if some are missing, because this thread
            is already registering them and the call came from there.
        """
        ...

    def load_installed(self, registry: Registry) -> None:
        """Registers the entries of all installed plugins. Called when a name is missing.

        Args:
            registry: The registry.
        """
        ...

    def unavailable(self, registry: Registry) -> Sequence[UnavailablePlugin]:
        """Returns the installed plugins that were not loaded, for error messages.

        Args:
            registry: The registry.
        """
        ...

    def suggest(self, registry: Registry, name: str) -> str | None:
        """Returns how to get a missing name, for its error message; None if that is not known.

        Args:
            registry: The registry.
            name: The name.
        """
        ...


class UnknownNameError(AttributeError, KeyError):
    """A name that no entry of the registry has.

    It is a KeyError, because a registry is a table, and an AttributeError, because names of a
    registry are attributes of a module such as ``chainer.functions``.
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NameConflictError(ValueError):
    """A name that is registered already.

    Attributes:
        owner: The entry that has the name and keeps it.
        rejected: The entry that was to be registered under the same name.
    """

    def __init__(self, registry: Registry, owner: Entry, rejected: Entry) -> None:
        super().__init__(
            f"{registry.singular} {owner.name!r} of {rejected.origin} (as {rejected.text}) is not "
            f"registered, because {owner.origin} (as {owner.text}) already owns the name "
            "and keeps it; register with override=True to replace it on purpose"
        )
        self.owner = owner
        self.rejected = rejected


class Registry:
    """A table of names of one kind.

    All methods may be called from any thread. Looking up a registered name takes no lock.

    Args:
        kind: Kind of the entries, in the plural: ``'functions'``.
        singular: The same in the singular, for messages; by default the kind without its final "s".
        requirement: Kind of objects that are accepted, see
            :mod:`chainer.core.registry.requirements`; None for anything. Lazy references are
            checked when they are imported.
        underscores: Whether names may begin with an underscore. Attributes of modules may not,
            because tools probe modules for such names, see :func:`chainer.core.lazy.lazy_module`.

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

    def __init__(
        self,
        kind: str,
        singular: str | None = None,
        requirement: Requirement | None = None,
        *,
        underscores: bool = True,
    ) -> None:
        self.kind = kind
        self.requirement = requirement
        self.underscores = underscores
        self.singular = kind.removesuffix("s").replace("_", " ") if singular is None else singular
        self._entries: dict[str, Entry] = {}
        # Entries that were replaced on purpose, oldest first. When the entry that replaced one is
        # removed, the replaced one is active again.
        self._overridden: dict[str, list[Entry]] = {}
        # Entries that were registered with override=True.
        self._replacing: set[Entry] = set()
        # Entries whose names were taken already, by name; see _load_alternative().
        self._rejected: dict[str, list[Entry]] = {}
        self._listeners: list[Callable[[str], object]] = []
        # Reentrant: a listener may look up or register another name.
        self._lock = threading.RLock()
        self._provider: EntryProvider | None = None
        self._builtin_loaded = True

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
            target: The object, or ``"module:attribute"``, which is imported when the name is first
                used.
            provenance: The plugin that registers it; None for code that is not a plugin.
            override: Whether to replace the entry that has the name now.

        Raises:
            NameConflictError: If the name is registered already and ``override`` is False. The
                first owner keeps the name.
            ValueError: If a lazy reference is malformed.
            TypeError: If the name is not a string, or the object is not what this registry is for.
        """
        check_entry(self, name, target)
        self._load_builtin()
        self.add(Entry(name, target, provenance, self.requirement), override=override)

    def add(self, entry: Entry, *, override: bool = False) -> None:
        """Adds an entry without asking the provider first; for the provider itself.

        Args:
            entry: The entry.
            override: Whether to replace the entry that has the name now.

        Raises:
            NameConflictError: If the name is registered already and ``override`` is False.
        """
        with self._lock:
            owner = self._entries.get(entry.name)
            if owner is not None:
                if not override and owner in self._replacing and entry.name not in self._overridden:
                    # An enabled plugin, which may be loaded first, replaces what comes later, too.
                    self._overridden[entry.name] = [entry]
                    return
                if not override:
                    self._rejected.setdefault(entry.name, []).append(entry)
                    raise NameConflictError(self, owner, entry)
                self._overridden.setdefault(entry.name, []).append(owner)
            if override:
                self._replacing.add(entry)
            self._entries[entry.name] = entry
        self._notify(entry.name)

    def has(self, name: str) -> bool:
        """Returns whether a name is registered, without loading any plugin.

        Args:
            name: The name.
        """
        return name in self._entries

    def replaced(self, name: str) -> Entry | None:
        """Returns the entry that the active entry of a name replaced on purpose, or None.

        Args:
            name: The name.
        """
        entries = self._overridden.get(name)
        return entries[-1] if entries else None

    def unregister(self, name: str) -> Entry:
        """Removes the entry of a name. An entry that it had replaced becomes active again.

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
        """Removes an entry, whether it is active or was replaced by another entry.

        Removing an entry that is not registered has no effect.

        Args:
            entry: The entry.
        """
        with self._lock:
            overridden = self._overridden.get(entry.name, [])
            self._replacing.discard(entry)
            if self._entries.get(entry.name) is entry:
                if overridden:
                    self._entries[entry.name] = overridden.pop()
                else:
                    del self._entries[entry.name]
            elif entry in overridden:
                overridden.remove(entry)
            if entry in self._rejected.get(entry.name, ()):
                self._rejected[entry.name].remove(entry)
            if not overridden:
                self._overridden.pop(entry.name, None)
        self._notify(entry.name)

    # Looking up

    def get(self, name: str) -> Any:
        """Returns the object of a name, importing it at first use.

        Args:
            name: The name.

        Raises:
            UnknownNameError: If no installed plugin supplies the name. The message lists similar
                names and the plugins that were not loaded. The exception of the first plugin that
                failed is the cause.
            EntryLoadError: If the object cannot be imported; the cause is chained.
        """
        # A registered name needs one lookup. This is a hot path: operations are found here.
        # Not before plugins that the user enabled are loaded: they may replace the entry.
        entry = self._entries.get(name) if self._builtin_loaded else None
        entry = self.entry(name) if entry is None else entry
        try:
            return entry.load()
        except EntryLoadError as error:
            return self._load_alternative(entry, error)

    def _load_alternative(self, entry: Entry, error: EntryLoadError) -> Any:
        """Returns the object that another plugin tried to register under a broken entry's name.

        Args:
            entry: The broken entry.
            error: Its error, which is raised if no other plugin supplies the name.
        """
        # An entry of a plugin never replaces an entry of the framework itself.
        if entry.provenance is None or entry.provenance.distribution == "chainer":
            raise error
        for other in list(self._rejected.get(entry.name, ())):
            if other.provenance is None:
                continue
            try:
                loaded = other.load()
            except EntryLoadError as second:
                error.add_note(str(second))
                continue
            with self._lock:
                self._rejected[entry.name].remove(other)
                self._entries[entry.name] = other
            self._notify(entry.name)
            warnings.warn(
                f"{self.singular} {entry.name!r} is that of {other.origin}, because that of "
                f"{entry.origin} does not work: {error}",
                UserWarning,
                stacklevel=4,
            )
            return loaded
        raise error

    def entry(self, name: str) -> Entry:
        """Returns the entry of a name, without importing its object.

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
        # Without the lock: reading a dictionary is atomic, and entries are replaced as a whole.
        if not self._builtin_loaded:
            self._load_builtin()
        return self._entries.get(name)

    def names(self) -> list[str]:
        """Returns the names registered so far, sorted. After :meth:`load_all` these are all."""
        return sorted(self._snapshot())

    def entries(self) -> list[Entry]:
        """Returns the entries registered so far, sorted by name."""
        snapshot = self._snapshot()
        return [snapshot[name] for name in sorted(snapshot)]

    def load_all(self) -> None:
        """Lets every installed plugin register its names."""
        self._load_builtin()
        if self._provider is not None:
            self._provider.load_installed(self)

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
        """Calls a function with the name whenever an entry is added, replaced or removed.

        Args:
            listener: Function of one argument, the name.
        """
        self._listeners.append(listener)

    def set_provider(self, provider: EntryProvider | None) -> None:
        """Sets the provider that adds entries when they are needed.

        Args:
            provider: The provider; None removes the present one.
        """
        self._provider = provider
        self._builtin_loaded = provider is None

    def _load_builtin(self) -> None:
        if not self._builtin_loaded and self._provider is not None:
            self._builtin_loaded = self._provider.load_builtin(self)

    def _snapshot(self) -> dict[str, Entry]:
        self._load_builtin()
        with self._lock:
            return dict(self._entries)

    def _notify(self, name: str) -> None:
        for listener in tuple(self._listeners):
            listener(name)

    def suggestion(self, name: str) -> str | None:
        """Returns how to get a missing name, for messages; None if that is not known.

        Args:
            name: The name.
        """
        return None if self._provider is None else self._provider.suggest(self, name)

    def _unknown(self, name: str) -> UnknownNameError:
        import difflib  # its import takes milliseconds and is needed for an error only

        message = f"no {self.singular} named {name!r}"
        known = self._snapshot()
        # A name in other spelling is the one that was meant: AdamW, not Adam, for Adamw.
        spelled = name.replace("_", "").lower()
        similar = [other for other in known if other.replace("_", "").lower() == spelled]
        suggestion = None if similar else name_hint(self.kind, name)
        if not similar and suggestion is None:
            suggestion = self.suggestion(name)
        similar = similar or difflib.get_close_matches(name, known, n=_MAX_SUGGESTIONS)
        if suggestion is not None:
            message += f"; {suggestion}"
        elif similar:
            message += f"; did you mean {' or '.join(map(repr, similar))}?"
        unavailable = [] if self._provider is None else list(self._provider.unavailable(self))
        if unavailable:
            message += "\nPlugins that may supply it but were not loaded:"
            message += "".join(f"\n  {plugin.description}" for plugin in unavailable)
        error = UnknownNameError(message)
        error.__cause__ = next((p.error for p in unavailable if p.error is not None), None)
        return error


def check_entry(registry: Registry, name: object, target: object) -> None:
    """Raises if a name or a target cannot be registered.

    Args:
        registry: The registry, for the message.
        name: Must be a non-empty string without spaces.
        target: An object; if it is a string, it must look like ``"package.module:attribute"``.
    """
    if not isinstance(name, str):
        raise TypeError(f"name of a {registry.singular} must be a string, got {name!r}")
    if not name:
        raise ValueError(f"name of a {registry.singular} must not be empty")
    if name.split() != [name]:
        raise ValueError(f"name of a {registry.singular} must not contain spaces, got {name!r}")
    if name.startswith("_") and not registry.underscores:
        raise ValueError(
            f"name of a {registry.singular} must not begin with an underscore, got {name!r}"
        )
    if isinstance(target, str):
        module, _, attribute = target.partition(":")
        parts = [*module.split("."), *attribute.split(".")]
        if not all(part.isidentifier() for part in parts):
            raise ValueError(
                f"lazy reference of {registry.singular} {name!r} must look like "
                f"'package.module:attribute', got {target!r}"
            )
    elif registry.requirement is not None:
        expected = registry.requirement(target)
        if expected is not None:
            raise TypeError(
                f"{registry.singular} {name!r} must be {expected}, got {describe(target)}"
            )
