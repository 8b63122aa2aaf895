"""Entries of registries: a name, the object it refers to, and the plugin that registered it."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from chainer.core.lazy import resolve
from chainer.core.registry.requirements import Requirement, describe, describe_error


class Provenance(NamedTuple):
    """The plugin that registered an entry.

    Attributes:
        distribution: Name of its distribution, such as ``'chainer-swish'``; empty if it is an
            object registered at run time.
        version: Version of the distribution; may be empty.
        entry_point: Name of its entry point, or of the object registered at run time.
    """

    distribution: str
    version: str
    entry_point: str

    def __str__(self) -> str:
        if not self.distribution:
            return f"plugin {self.entry_point!r}, registered at run time"
        release = f"{self.distribution} {self.version}".rstrip()
        return f"plugin {self.entry_point!r} of {release}"


#: Held for two assignments only. One lock for all entries, which are many.
_loading_lock = threading.Lock()


class EntryLoadError(ImportError):
    """The object of a registered name could not be imported."""


class _SelfReferenceError(EntryLoadError):
    """Loading the object of an entry needs the object of the same entry."""


class _Loading(threading.local):
    """The entries that a thread is loading, further up in its calls."""

    def __init__(self) -> None:
        self.entries: set[Entry] = set()


class Entry:
    """An entry of a registry.

    Args:
        name: The name.
        target: The object, or a lazy reference ``"module:attribute"`` to it.
        provenance: The plugin that registers it; None for code that is not a plugin.
        requirement: Kind of object that is accepted, see :mod:`chainer.core.registry.requirements`.
    """

    __slots__ = ("_loaded", "_object", "_requirement", "name", "provenance", "target")

    def __init__(
        self,
        name: str,
        target: Any,
        provenance: Provenance | None = None,
        requirement: Requirement | None = None,
    ) -> None:
        self.name = name
        self._requirement = requirement
        self.target = target
        self.provenance = provenance
        self._loaded = not isinstance(target, str)
        self._object: Any = None if isinstance(target, str) else target

    @property
    def origin(self) -> str:
        """The plugin or program that registered the entry, for messages."""
        return "code run by the user" if self.provenance is None else str(self.provenance)

    @property
    def text(self) -> str:
        """The target, for messages: the lazy reference, or where the object is defined."""
        if isinstance(self.target, str):
            return repr(self.target)
        name = getattr(self.target, "__qualname__", None)
        if name is None:
            return f"an instance of {type(self.target).__module__}.{type(self.target).__qualname__}"
        return f"'{self.target.__module__}:{name}'"

    @property
    def loaded(self) -> bool:
        """Whether the object is imported already."""
        return self._loaded

    def load(self) -> Any:
        """Returns the object, importing it at the first call.

        Raises:
            EntryLoadError: If the import fails; the cause is chained.
        """
        # No lock around the import: the import system has its own, and a second one could deadlock
        # with a thread that imports the same module directly. Loading twice does no harm.
        if not self._loaded:
            if self in _loading.entries:
                raise _SelfReferenceError(
                    f"{self.name!r} is registered by {self.origin} as {self.text}, which refers to "
                    "the registered name itself; name the module that defines it"
                )
            _loading.entries.add(self)
            try:
                loaded = resolve(self.target)
                expected = None if self._requirement is None else self._requirement(loaded)
                if expected is not None:
                    raise TypeError(f"it must be {expected}, it is {describe(loaded)}")
            except (KeyboardInterrupt, _SelfReferenceError):
                raise
            # A module of a plugin may call sys.exit(), or raise another error that is not an
            # Exception. That must not end the program.
            except BaseException as error:
                raise EntryLoadError(
                    f"{self.name!r} could not be loaded from {self.text}, "
                    f"registered by {self.origin}: {describe_error(error)}"
                ) from error
            finally:
                _loading.entries.discard(self)
            with _loading_lock:
                # Several threads may have loaded it. All get the object of the first one.
                if not self._loaded:
                    self._object = loaded
                    self._loaded = True
        return self._object

    def __repr__(self) -> str:
        return f"<entry {self.name!r} -> {self.text}, by {self.origin}>"


_loading = _Loading()
