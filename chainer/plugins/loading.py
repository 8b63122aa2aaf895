"""Imports a pack and calls its hooks, without a lock, from any number of threads at once.

No lock may be held here. A module is imported under a lock of Python's import system, and a thread
that holds such a lock may need a name of a pack. With a second lock around the import, two threads
could wait for each other for ever. So each thread that needs a pack may load it. The import system
runs a module once, and :mod:`chainer.plugins.manager` registers the result of the first thread
only.

The order of the locks:

1. The lock of the manager (records, registries, turns) is the innermost one. Nothing is imported,
   called or waited for while it is held.
2. Turns (:class:`Turns`) and Python's import locks, one for each module, are taken in any order: a
   thread takes its turn, imports the pack, and the import may need other turns. So they may form a
   circle. A thread does not wait for a turn whose owner waits for this thread, directly or through
   others, nor for one whose owner does not move.
3. A circle of import locks alone is ended by Python with an error in one of the threads. There
   :func:`patiently` repeats the outermost import, after this thread has released its import locks.
   No pack counts as failed for that reason (``Loaded.held_up``).
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from chainer.core.imports import is_deadlock, is_nested, is_unfinished_import, patiently
from chainer.core.lazy import resolve
from chainer.core.registry.registry import Registry
from chainer.plugins.api_version import check_module, check_source
from chainer.plugins.errors import IncompatiblePluginError, PluginError
from chainer.plugins.module_names import require_own_module
from chainer.plugins.records import PluginRecord, State
from chainer.plugins.staging import Staged

#: A thread that stays this long at one instruction is taken to wait for the present thread.
_STUCK_SECONDS = 5.0


class Loaded:
    """The result of an attempt to load a pack.

    Attributes:
        plugin: The module or object; None if it could not be imported.
        staged: Registrations of its hooks.
        state: ``loaded``, ``incompatible`` or ``failed``.
        error: The reason, if it is not loaded.
        seconds: Time that importing it and calling its hooks took.
        importing_seconds: The part of it that the import took.
        held_up: Whether only an import of another thread stopped it. Loading it later may succeed.
    """

    def __init__(self) -> None:
        self.plugin: Any = None
        self.staged: list[Staged] = []
        self.state: State = "loaded"
        self.error: BaseException | None = None
        self.seconds = 0.0
        self.importing_seconds = 0.0
        self.held_up = False


def load_pack(
    record: PluginRecord, registries: Mapping[str, Registry], records: Sequence[PluginRecord]
) -> Loaded:
    """Imports a pack and calls its registry hooks. Registers nothing.

    Args:
        record: The record of the pack, which is not changed.
        registries: The registries by kind.
        records: The records of all plugins.

    Returns:
        Loaded: The result. Errors of the pack are part of it.
    """
    loaded = Loaded()
    start = time.perf_counter()

    def attempt() -> None:
        require_own_module(record, records)
        check_source(record.target, record.location)
        loaded.plugin = resolve(record.target)
        _require_complete(record.target)
        loaded.importing_seconds = time.perf_counter() - start
        loaded.staged = collect(loaded.plugin, registries, record)

    try:
        patiently(attempt)
    except IncompatiblePluginError as error:
        loaded.state, loaded.error = "incompatible", error
    except SystemExit as error:
        # A plugin must not end the program that imports Chainer.
        loaded.state, loaded.error = "failed", PluginError(f"it called sys.exit({error.code!r})")
    except KeyboardInterrupt:
        raise
    # Also errors that are not an Exception: a plugin must not end the program that found it.
    except BaseException as error:
        loaded.state, loaded.error = "failed", error
        # At the outermost call, attempts were made for long enough to call it a failure, unless the
        # program itself holds the import lock that the other thread needs.
        if threading.active_count() > 1:
            loaded.held_up = is_deadlock(error) or (is_nested() and is_unfinished_import(error))
    loaded.seconds = time.perf_counter() - start
    return loaded


def collect(plugin: Any, registries: Mapping[str, Registry], record: PluginRecord) -> list[Staged]:
    """Returns what the registry hooks of a plugin register.

    Args:
        plugin: The module or object.
        registries: The registries by kind.
        record: Its record.

    Raises:
        PluginError: If it is for another version of the plugin API, or has a wrong hook.
    """
    from chainer.plugins.hooks import collect as call_hooks  # importing pluggy takes milliseconds

    check_module(plugin)
    return call_hooks(plugin, registries, record.provenance)


def _require_complete(target: str) -> None:
    """Raises if another thread has not finished the import of the module of a pack."""
    name = target.partition(":")[0]
    if is_initializing(name):
        raise ImportError(f"cannot use the partially initialized module {name!r}", name=name)


def is_initializing(name: str) -> bool:
    """Returns whether the body of a module is running, in this thread or in another one.

    Args:
        name: Name of the module.
    """
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


class Turns:
    """Lets a thread wait for the threads that are loading the same pack.

    A thread that misses a name waits for the packs that may supply it. It does not wait if the
    other thread in turn waits for it: directly, through other threads, or in a way that only shows
    in the other thread not moving, as when a pack starts a thread and joins it.

    Args:
        lock: Lock of the manager. The methods are called while it is held.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._changed = threading.Condition(lock)
        self._loading: dict[PluginRecord, list[int]] = {}
        self._waiting: dict[int, PluginRecord] = {}

    def begin(self, record: PluginRecord) -> None:
        """Says that this thread loads a pack."""
        self._loading.setdefault(record, []).append(threading.get_ident())

    def end(self, record: PluginRecord) -> None:
        """Says that this thread does not load the pack any more."""
        threads = self._loading[record]
        threads.remove(threading.get_ident())
        if not threads:
            del self._loading[record]
        self._changed.notify_all()

    def is_loading_here(self, record: PluginRecord) -> bool:
        """Returns whether this thread is loading the pack, further up in its calls."""
        return threading.get_ident() in self._loading.get(record, ())

    def reason(self, record: PluginRecord) -> str:
        """Returns why a pack cannot be loaded now; empty if it can."""
        threads = self._loading.get(record) or _importers(record.target)
        if threading.get_ident() in threads:
            return "this thread is importing it now"
        return "another thread is importing it, and may wait for this thread" if threads else ""

    def wait(self, record: PluginRecord) -> bool:
        """Waits until no other thread is loading a pack. Releases the lock meanwhile.

        Args:
            record: The record of the pack.

        Returns:
            bool: Whether this thread may load the pack itself, should that still be necessary.
                False if the other thread does not come to an end while this one waits.
        """
        me = threading.get_ident()
        self._waiting[me] = record
        position, since = None, time.monotonic()
        try:
            while (other := self._last_in_line(record)) is not None:
                if other == me:
                    return False
                self._changed.wait(0.02)
                now = _position(other)
                if now != position:
                    position, since = now, time.monotonic()
                elif time.monotonic() - since > _STUCK_SECONDS:
                    # Python's import system ends the deadlock if that thread waits for this one.
                    return now is not None and now[2]
            return True
        finally:
            del self._waiting[me]

    def _last_in_line(self, record: PluginRecord) -> int | None:
        """Returns the thread for which a thread that waits for a pack waits in the end.

        Returns:
            The present thread, if a thread that loads the pack waits for it. None if no thread
            loads the pack.
        """
        me = threading.get_ident()
        last = None
        pending, passed = [record], set[PluginRecord]()
        while pending:
            record = pending.pop()
            if record in passed:
                continue
            passed.add(record)
            # None for a pack that another thread waits for: it was loaded a moment ago, and that
            # thread has not woken up yet. It still loads the pack before.
            for thread in self._loading.get(record) or _importers(record.target):
                if thread == me:
                    return me
                following = self._waiting.get(thread)
                if following is not None:
                    pending.append(following)
                # A thread that waits does not move; one that does not wait shows whether it does.
                if following is None or last is None:
                    last = thread
        return last


def _importers(target: str) -> list[int]:
    """Returns the threads that run the body of a module, or of a package that it is in.

    Args:
        target: Target of an entry point. Programs may import the module themselves.
    """
    name = target.partition(":")[0]
    running = [
        vars(sys.modules[part])
        for part in itertools.accumulate(name.split("."), "{}.{}".format)
        if is_initializing(part)
    ]
    found: list[int] = []
    for thread, top in _current_frames().items() if running else ():
        frame: FrameType | None = top
        while frame is not None:
            if frame.f_code.co_name == "<module>" and any(frame.f_globals is g for g in running):
                found.append(thread)
                break
            frame = frame.f_back
    # The package of a pack may use a missing name while this thread imports it: the pack is loaded.
    if threading.get_ident() in found and not is_initializing(name):
        return []
    return found


def _position(thread: int) -> tuple[int, int, bool] | None:
    """Returns where a thread is: frame, instruction, and whether it waits for an import."""
    frame = _current_frames().get(thread)
    if frame is None:
        return None
    in_import = frame.f_code.co_filename.startswith("<frozen importlib")
    return id(frame), frame.f_lasti, in_import


def _current_frames() -> dict[int, FrameType]:
    """Returns the innermost frame of every thread. Python documents the function that it calls."""
    return sys._current_frames()  # pyright: ignore[reportPrivateUsage]
