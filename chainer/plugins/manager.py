"""The plugin manager: finds plugins, loads them when they are needed, isolates their failures."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chainer.core.registry import registries
from chainer.core.registry.registry import NameConflictError, Registry, UnavailablePlugin
from chainer.plugins import _builtin, environment
from chainer.plugins.discovery import FoundPack, discover, normalize
from chainer.plugins.environment import trace
from chainer.plugins.errors import PluginError, PluginWarning
from chainer.plugins.loading import Loaded, Turns, collect, load_pack
from chainer.plugins.records import PluginRecord
from chainer.plugins.staging import commit, withdraw

if TYPE_CHECKING:
    from chainer.plugins.hooks import EventHooks

OWN_DISTRIBUTION = "chainer"
_UNREGISTERED = "chainer.plugins.unregister"


class PluginManager:
    """Finds packs, loads them when their names are needed, and registers plugins at run time.

    It is the :class:`~chainer.core.registry.registry.EntryProvider` of the registries. Chainer's
    own packs are loaded at the first use of a registry that they fill. Other packs are loaded when
    a name is missing, when all names are listed, or when the user loads them by name. A pack that
    fails is recorded and reported once.

    Args:
        version: Version of Chainer, for its own packs.
        tables: The registries to fill, by kind; by default the registries of the process.

    Example:
        The functions of :mod:`chainer.plugins` call the one of the process. A second one, with
        registries of its own, finds the same packs:

        >>> from chainer.core.registry import registries
        >>> tables = {kind: type(each)(kind) for kind, each in registries.ALL.items()}
        >>> manager = chainer.plugins.PluginManager(chainer.__version__, tables)
        >>> len(manager.records()) == len(chainer.plugins.records())
        True
    """

    def __init__(self, version: str, tables: Mapping[str, Registry] | None = None) -> None:
        self._version = version
        self._registries = registries.ALL if tables is None else tables
        self._records: dict[tuple[str, str], PluginRecord] = {}
        self._events: EventHooks | None = None
        self._enabled_loaded = False
        self._reported_names: set[str] = set()
        self._requested: list[str] = []
        # Tasks that this thread has begun and not finished: 'installed', 'enabled'.
        self._here = _ThreadState()
        # Protects the records and the order of registration. It is never held while a pack is
        # imported, a hook is called or the user is warned: see chainer.plugins.loading.
        self._lock = threading.Lock()
        self._turns = Turns(self._lock)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._records)} plugins found so far>"

    # Discovery

    def discover(self) -> None:
        """Looks for packs that were installed since the last call. Does not import them."""
        start = time.perf_counter()
        found = list(self._find())
        with self._lock:
            # Records are never replaced: they hold what was loaded and what failed.
            new = [record for record in found if self._is_new(record)]
            for record in new:
                self._records[record.distribution, record.name] = record
        if environment.tracing():
            milliseconds = (time.perf_counter() - start) * 1e3
            trace(f"looked for packs in {milliseconds:.2f} ms, {len(new)} new")
            for record in new:
                trace(f"{record.state} {record.provenance} -> {record.target}")

    def _is_new(self, record: PluginRecord) -> bool:
        return (record.distribution, record.name) not in self._records

    def _find(self) -> Iterator[PluginRecord]:
        found = discover()
        # Metadata of another version than this code's are stale, or belong to another copy.
        installed = {p.name: p for p in found if self._is_own(p) and p.version == self._version}
        own = {
            name: FoundPack(name, target, OWN_DISTRIBUTION, self._version, "")
            for name, target in _builtin.PACKS.items()
        } | installed
        blocked = environment.names(environment.DISABLE)
        for pack in [*own.values(), *(p for p in found if not self._is_own(p))]:
            record = PluginRecord(
                pack.name,
                pack.distribution,
                pack.version,
                pack.target,
                builtin=self._is_own(pack),
                location=pack.location,
            )
            if any(record.name == name for name in blocked) or (
                not record.builtin and any(map(record.matches, blocked))
            ):
                record.state = "blocked"
            elif pack.problem:
                record.state, record.error = "failed", PluginError(pack.problem)
            yield record

    @staticmethod
    def _is_own(pack: FoundPack) -> bool:
        return pack.distribution == OWN_DISTRIBUTION

    def records(self) -> list[PluginRecord]:
        """Returns the records of all plugins, Chainer's own first. Does not load any."""
        self.discover()
        return self._all()

    # Called by the registries

    def load_builtin(self, registry: Registry) -> bool:
        """Loads Chainer's own packs that fill a registry, and the plugins that the user enabled."""
        own = [r for r in self._builtin() if _fills(r, registry)]
        # A pack that is being loaded looks a name up. The registry is not complete yet, so the
        # caller must ask again.
        with self._lock:
            if any(map(self._turns.is_loading_here, own)):
                return False
        complete = all([self._load_if_found(record) for record in own])
        self._load_enabled()
        # Not complete before the enabled plugins have replaced what they replace.
        return complete and self._enabled_loaded

    def load_installed(self, registry: Registry) -> None:
        """Loads every installed pack that is not loaded yet."""
        if "installed" in self._here.doing:  # a pack looks for a missing name while it is loaded
            return
        self._here.doing.add("installed")
        try:
            self.discover()
            for record in self._all():
                self._load_if_found(record)
                # A malformed entry point is known without loading anything.
                if record.state == "failed":
                    self._report(record)
        finally:
            self._here.doing.remove("installed")

    def unavailable(self, registry: Registry) -> list[UnavailablePlugin]:
        """Returns the plugins that may supply names of a registry but were not loaded."""
        found: list[UnavailablePlugin] = []
        for record in self._all():
            if record.builtin and not _fills(record, registry):
                continue
            if record.state in ("failed", "incompatible", "blocked"):
                text = f"{record.provenance} ({record.state}): {record.problem}"
                found.append(UnavailablePlugin(text, record.error))
            elif record.state == "found" and (reason := self._unfinished(record)):
                found.append(UnavailablePlugin(f"{record.provenance}: {reason}", None))
        return found

    def _unfinished(self, record: PluginRecord) -> str:
        """Returns why a plugin that was found cannot be loaded now; empty if it can."""
        with self._lock:
            return self._turns.reason(record)

    def suggest(self, registry: Registry, name: str) -> str | None:
        """Returns how to get a missing name of a registry; None if that is not known."""
        from chainer.plugins.known_distributions import suggestion  # importlib.metadata: 30 ms

        return suggestion(registry.kind, name)

    def _all(self) -> list[PluginRecord]:
        """Returns the records in the order in which plugins are loaded: Chainer's own first.

        Others are sorted by name. So the order of folders on the path does not decide which of two
        plugins gets a name.
        """
        with self._lock:
            records = list(self._records.values())
        own = [record for record in records if record.builtin]
        others = [record for record in records if not record.builtin]
        return own + sorted(others, key=lambda r: (normalize(r.distribution), r.name))

    def _builtin(self) -> list[PluginRecord]:
        if not self._records:
            self.discover()
        return [record for record in self._all() if record.builtin]

    def _load_enabled(self) -> None:
        if self._enabled_loaded or "enabled" in self._here.doing:
            return
        self._here.doing.add("enabled")
        try:
            for name in environment.names(environment.ENABLE):
                self._load_enabled_by(environment.ENABLE, name)
            for name in self._requested:
                self._load_enabled_by("chainer.config.enable_plugins", name)
        finally:
            self._here.doing.remove("enabled")
            # Set at the end: another thread that uses its first name now waits for these plugins.
            self._enabled_loaded = True

    def request(self, names: Sequence[str]) -> None:
        """Enables plugins at the first use of any name, or now if that is over.

        Args:
            names: Names of entry points or distributions.

        Raises:
            PluginError: If it is over, and one cannot be loaded.
        """
        for name in names:
            if self._enabled_loaded:
                self.load(name)
            elif name not in self._requested:
                self._requested.append(name)

    def _load_enabled_by(self, source: str, name: str) -> None:
        try:
            self.load(name)
        except PluginError as error:
            if environment.strict():
                raise
            with self._lock:
                if name in self._reported_names:
                    return
                self._reported_names.add(name)
            warnings.warn(f"{source}: {error}", PluginWarning, stacklevel=2)

    # Loading

    def load(self, name: str) -> list[PluginRecord]:
        """Loads plugins by name, and enables their overrides and hooks for training events.

        Args:
            name: Name of an entry point or of a distribution.

        Returns:
            list of PluginRecord: The records of the plugins of that name.

        Raises:
            PluginError: If there is no such plugin, or it is blocked or cannot be loaded. The cause
                is chained.
        """
        self.discover()
        records = self._all()
        named = [record for record in records if record.matches(name)]
        if not named:
            known = ", ".join(sorted({record.name for record in records}))
            raise PluginError(f"no plugin named {name!r} is installed; there are {known}")
        failed: list[PluginRecord] = []
        for record in named:
            if record.state == "blocked" and record.blocked_by == _UNREGISTERED:
                record.state = "found"
            record.enabled = True  # before it is loaded: its overrides are in effect at once
            self._load_if_found(record)
            if record.state == "loaded":
                self._enable(record)
            else:
                record.enabled = False
                failed.append(record)
        # Two distributions may use one name. The one that works serves.
        for record in failed:
            problem = record.problem or self._unfinished(record)
            text = f"{record.provenance} cannot be used ({record.state}): {problem}"
            if len(failed) == len(named):
                raise PluginError(text) from record.error
            others = ", ".join(str(r.provenance) for r in named if r not in failed)
            warnings.warn(f"{text}; {others} serves", PluginWarning, stacklevel=2)
        return named

    def _load_if_found(self, record: PluginRecord) -> bool:
        """Loads a pack unless that was tried already.

        Returns:
            bool: False if it is still being loaded: by this thread further up in its calls, or by
                another thread that waits for this one.
        """
        if record.state != "found":
            return True
        if not record.builtin:
            # Chainer's own names are registered first, so that no plugin can take one by accident.
            for own in self._builtin():
                self._load_if_found(own)
        with self._lock:
            if self._turns.is_loading_here(record):
                return False
            # Chainer's own packs are loaded by every thread that needs them: a thread that waited
            # could hold the import lock of one of their modules.
            if not record.builtin and not self._turns.wait(record):
                return False
            if record.state != "found":
                return True
            self._turns.begin(record)
        try:
            loaded = load_pack(record, self._registries, self._all())
            if loaded.held_up:
                return self._later(record, loaded)
            with self._lock:
                settled = self._settle(record, loaded)
        finally:
            with self._lock:
                self._turns.end(record)
        if settled:
            if environment.tracing():
                _trace_loading(record, loaded.importing_seconds)
            if record.problem:
                self._report(record)
            if record.refused:
                warnings.warn(_about_refused(record), PluginWarning, stacklevel=2)
        return record.state != "found"

    @staticmethod
    def _later(record: PluginRecord, loaded: Loaded) -> bool:
        """Leaves a pack that another thread holds up for its next use. Nothing is registered."""
        if record.state == "found" and record.builtin and loaded.error is not None:
            # A pack that is being imported needs Chainer's own names: its import is repeated.
            raise loaded.error
        return record.state != "found"

    def _settle(self, record: PluginRecord, loaded: Loaded) -> bool:
        """Registers what a pack registers. The lock is held.

        Returns:
            bool: False if another thread did that before.
        """
        if record.state != "found":
            return False
        record.plugin, record.seconds = loaded.plugin, loaded.seconds
        state, record.error = loaded.state, loaded.error
        if record.error is None:
            try:
                record.entries, record.conflicts, record.refused = commit(
                    loaded.staged, partial=not environment.strict(), overrides=record.enabled
                )
            except NameConflictError as error:
                state, record.error = "failed", error
        record.state = state  # last: other threads read it without the lock
        return True

    def _report(self, record: PluginRecord) -> None:
        """Warns the user once of a problem of a plugin; raises it in strict mode."""
        with self._lock:
            if record.reported:
                return
            record.reported = True
        if environment.strict():
            raise PluginError(
                f"{record.provenance} {record.state}: {record.problem}"
            ) from record.error
        if record.state == "loaded":
            text = f"{record.provenance} did not get all its names: {record.problem}"
        else:
            text = f"{record.provenance} is not used ({record.state}): {record.problem}"
        warnings.warn(f"{text}\n`chainer plugins` lists all plugins", PluginWarning, stacklevel=2)

    # Run time

    def register(self, plugin: Any, name: str | None = None) -> PluginRecord:
        """Registers an object as a plugin, as if it were an installed pack.

        Args:
            plugin: Module or object with functions named like hooks.
            name: Name for messages and for :meth:`unregister`; by default the name of the module or
                class.

        Returns:
            PluginRecord: Its record.

        Raises:
            PluginError: If the plugin or the name is registered already, or the plugin is for
                another version of the plugin API, or implements an unknown hook.
            NameConflictError: If one of its names is registered already. Nothing is registered
                then.
        """
        from chainer.plugins.hooks import name_of

        name = name_of(plugin) if name is None else name
        for own in self._builtin():
            self._load_if_found(own)
        self._require_new(plugin, name)
        record = PluginRecord(name, "", "", target=repr(plugin), plugin=plugin)
        start = time.perf_counter()
        staged = collect(plugin, self._registries, record)
        with self._lock:
            self._require_new(plugin, name)  # another thread may have registered it meanwhile
            record.enabled = True
            record.entries, record.conflicts, _ = commit(staged, partial=False, overrides=True)
            record.state, record.seconds = "loaded", time.perf_counter() - start
            self._records["", name] = record
        if environment.tracing():
            _trace_entries(record)
        self._enable(record)
        return record

    def _require_new(self, plugin: Any, name: str) -> None:
        for record in list(self._records.values()):
            if record.state == "loaded" and (
                record.plugin is plugin or (record.name, record.distribution) == (name, "")
            ):
                raise PluginError(f"{record.provenance} is registered already; unregister it first")

    def unregister(self, plugin: Any) -> PluginRecord:
        """Removes everything that a plugin registered. Entries it had replaced are active again.

        Args:
            plugin: The object, or the name of a plugin registered at run time or of an entry point.

        Returns:
            PluginRecord: Its record. An installed pack is blocked from now on; :meth:`load` loads
                it
            again.

        Raises:
            PluginError: If no such plugin is loaded.
        """
        with self._lock:
            record = next(
                (
                    record
                    for record in self._records.values()
                    if record.state == "loaded"
                    and (plugin is record.plugin or plugin == record.name)
                ),
                None,
            )
            if record is None:
                raise PluginError(f"no loaded plugin is, or is named, {plugin!r}")
            withdraw(record.entries)
            record.entries, record.refused, record.enabled = [], [], False
            # Otherwise an installed pack would be loaded again at the next missing name.
            if record.distribution:
                record.state, record.blocked_by = "blocked", _UNREGISTERED
            else:
                del self._records[record.distribution, record.name]
        if self._events is not None:
            self._events.remove(record.plugin)
        trace(f"unregistered {record.provenance}")
        return record

    # Events

    def _enable(self, record: PluginRecord) -> None:
        from chainer.plugins.hooks import EventHooks

        with self._lock:
            record.enabled = True
            if record.refused:
                taken = commit(record.refused, partial=True, overrides=True)
                record.entries += taken.entries
                record.refused = []
            events = self._events = self._events or EventHooks()
        events.add(record.plugin)

    def emit(self, event: str, arguments: Mapping[str, Any]) -> None:
        """Calls the hook of an event in all plugins that the user enabled.

        Args:
            event: Name of the hook.
            arguments: Its arguments.
        """
        self._builtin()
        self._load_enabled()
        if self._events is not None:
            self._events.call(event, arguments)


class _ThreadState(threading.local):
    """Tasks that a thread has begun, so that it does not begin them again inside themselves."""

    def __init__(self) -> None:
        self.doing: set[str] = set()


def _about_refused(record: PluginRecord) -> str:
    names = ", ".join(record.refused_names())
    return (
        f"{record.provenance} is installed and not enabled, so it does not replace {names}. Enable "
        f"it by chainer.plugins.enable({record.name!r}) or {environment.ENABLE}={record.name}"
    )


def _trace_loading(record: PluginRecord, importing: float) -> None:
    _trace_entries(record)
    trace(_story(record, importing))


def _trace_entries(record: PluginRecord) -> None:
    for registry, entry in record.entries:
        trace(f"registered {registry.singular} {entry.name!r} -> {entry.text}")


def _story(record: PluginRecord, importing: float) -> str:
    """Returns a line about the loading of a plugin, whose import took ``importing`` seconds."""
    milliseconds = (record.seconds or 0) * 1e3
    text = f"{record.state} {record.provenance} -> {record.target} in {milliseconds:.1f} ms"
    if record.state == "loaded":
        text += f" (import {importing * 1e3:.1f} ms), registered {record.summary() or 'nothing'}"
    return f"{text}: {record.problem}" if record.problem else text


def _fills(record: PluginRecord, registry: Registry) -> bool:
    kinds = _builtin.FILLS.get(record.name)
    return kinds is None or registry.kind in kinds


__all__ = ["NameConflictError", "PluginManager"]
