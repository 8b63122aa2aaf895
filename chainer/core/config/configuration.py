"""Configuration: process-wide values with thread-local overrides.

``chainer.global_config`` holds the defaults, ``chainer.config`` the values of the current thread.
The core reads a few entries at every call of a function. Their values are attributes of a
:class:`ThreadState`, which is updated when an entry changes, so that reading them is fast.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from chainer.core.arguments import wrong_type
from chainer.core.change_number import ChangeNumber
from chainer.core.config.entries import CORE_ENTRIES, ConfigEntry, declared
from chainer.core.config.kernel_policy import KernelPolicy, current_policy
from chainer.core.misuse import similar, warn_once
from chainer.core.streams import STANDARD_OUTPUT, current_stream

if TYPE_CHECKING:
    from chainer.core.arrays.recorder import Recorder
    from chainer.core.autograd.function_hook import FunctionHook


#: Entries that a :class:`ThreadState` has as attributes -> default value.
_STATE_ENTRIES = {
    "debug": False,
    "enable_backprop": True,
    "lazy_grad_sum": False,
    "type_check": True,
}


#: Number that changes whenever an entry of the process or of a thread changes. Changes by
#: :class:`BackpropMode` are not counted.
configuration_changes = ChangeNumber()


def _check_entry(name: str, value: object) -> None:
    entry = declared.get(name)
    if entry is not None:
        entry.check(value)
    elif name not in _accepted:
        _accepted.add(name)
        _warn_of_misspelling(name)


#: Names of undeclared entries that were already checked for misspellings.
_accepted: set[str] = set()


def _warn_of_misspelling(name: str) -> None:
    """Warns if a program sets an entry whose name resembles the name of a declared one."""
    # Names that begin with "user_" belong to programs, names that begin with "_" to Chainer itself.
    # Neither can be a misspelling.
    meant = None if name.startswith(("user_", "_")) else similar(name, declared, 0.8)
    if meant is not None:
        warn_once(
            "configuration",
            name,
            f"nothing reads the configuration entry {name!r}; did you mean {meant!r}? Names of "
            "entries of programs should begin with 'user_'",
            stacklevel=4,
        )


def _selects_kernels(name: str) -> bool:
    entry = declared.get(name)
    return entry is not None and entry.selects_kernels


class ThreadState:
    """The state of one thread: its own configuration values and its function hooks.

    Attributes:
        values: The entries set in this thread only.
        hooks: The function hooks installed in this thread, by name.
        enable_backprop: Effective value of the entry of this name. The same holds for ``debug``,
            ``type_check`` and ``lazy_grad_sum``.
        is_common: Whether types are checked, and neither debug mode nor ``lazy_grad_sum`` is on.
        policy: The effective :class:`KernelPolicy`.
        light_type_check: Whether a ``check_type_forward`` runs on plain values at the moment.
        recorder: The recorder of the step that is being recorded in this thread; None otherwise.
            :func:`chainer.capture` sets it while :meth:`Recorder.run` runs, and nothing else does.
    """

    # Every call of a function reads some of these. Slots are the fastest to read.
    __slots__ = (
        "__weakref__",
        "_global",
        "debug",
        "enable_backprop",
        "hooks",
        "is_common",
        "lazy_grad_sum",
        "light_type_check",
        "policy",
        "recorder",
        "type_check",
        "values",
    )

    def __init__(self, global_config: GlobalConfig) -> None:
        self._global = global_config
        self.values: dict[str, Any] = {}
        self.hooks: dict[str, FunctionHook] = {}
        self.light_type_check = False
        self.recorder: Recorder | None = None
        self.refresh()

    def refresh(self) -> None:
        """Recomputes the effective values."""
        local, shared = self.values, self._global.__dict__

        def get(name: str, default: Any) -> Any:
            return local[name] if name in local else shared.get(name, default)

        self.enable_backprop: bool = get("enable_backprop", True)
        self.type_check: bool = get("type_check", True)
        self.debug: bool = get("debug", False)
        self.lazy_grad_sum: bool = get("lazy_grad_sum", False)
        self.policy: KernelPolicy = current_policy(get)
        self._find_common()

    def set(self, name: str, value: Any) -> None:
        """Sets the effective value of one of the entries that have an attribute here."""
        setattr(self, name, value)
        self._find_common()

    def _find_common(self) -> None:
        # Each call of a function then needs one test instead of three.
        self.is_common: bool = self.type_check and not (self.debug or self.lazy_grad_sum)


class GlobalConfig:
    """Process-wide configuration values.

    Any attribute may be set; names of user entries should start with ``user_``. Entries of the
    thread-local :class:`LocalConfig` hide the values here for their thread.
    """

    _states: weakref.WeakSet[ThreadState]
    _lock: threading.Lock

    def __init__(self) -> None:
        # Not by the method below, which treats every attribute as an entry.
        object.__setattr__(self, "_states", weakref.WeakSet())
        object.__setattr__(self, "_lock", threading.Lock())

    def __setattr__(self, name: str, value: object) -> None:
        _check_entry(name, value)
        object.__setattr__(self, name, value)
        configuration_changes.renew()
        self._refresh()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        configuration_changes.renew()
        self._refresh()

    def _attach(self, state: ThreadState) -> None:
        with self._lock:
            self._states.add(state)

    def _refresh(self) -> None:
        # A thread that starts meanwhile would change the set that is iterated over.
        with self._lock:
            for state in self._states:
                state.refresh()

    def show(self, file: TextIO | None = STANDARD_OUTPUT) -> None:
        """Prints the entries, one per line, sorted by name.

        Args:
            file: Text stream to print to; ``sys.stdout`` by default.
        """
        _print_entries(_entries_of(self), file)

    def __repr__(self) -> str:
        return _entries_text(self, _entries_of(self))

    def __reduce__(self) -> Any:
        return (_restore_global, (_entries_of(self),))


def _entries_of(shared: GlobalConfig) -> dict[str, Any]:
    return {k: v for k, v in vars(shared).items() if k not in ("_states", "_lock")}


def _restore_global(entries: dict[str, Any]) -> GlobalConfig:
    restored = GlobalConfig()
    for name, value in entries.items():
        setattr(restored, name, value)
    return restored


class _States(threading.local):
    """Holds one :class:`ThreadState` for each thread, made at its first use in the thread."""

    # threading.local calls this again in each thread that reads an attribute.
    def __init__(self, global_config: GlobalConfig) -> None:
        self.state = ThreadState(global_config)
        global_config._attach(self.state)  # pyright: ignore[reportPrivateUsage]


class LocalConfig:
    """Thread-local configuration values over a global configuration.

    Setting an attribute affects the current thread only. Reading an attribute that is not set in
    this thread returns the global value. Deleting an attribute makes the global value visible
    again.

    Args:
        global_config (GlobalConfig): Configuration to fall back to.
    """

    _global: GlobalConfig
    _threads: _States

    def __init__(self, global_config: GlobalConfig) -> None:
        if not isinstance(global_config, GlobalConfig):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("global_config", "a GlobalConfig", global_config)
        object.__setattr__(self, "_global", global_config)
        object.__setattr__(self, "_threads", _States(global_config))

    def __getattr__(self, name: str) -> Any:
        # Only for entries that are not declared, and for errors: declared entries are properties,
        # see declare().
        try:
            return _read(name, self)
        except AttributeError:
            raise AttributeError(f"configuration has no entry {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        _check_entry(name, value)
        state = self._threads.state
        state.values[name] = value
        configuration_changes.renew()
        # All values are looked up again only where the choice of kernels depends on them:
        # backward passes and links change the others often.
        if name in _STATE_ENTRIES:
            state.set(name, value)
        elif _selects_kernels(name):
            state.refresh()

    def __delattr__(self, name: str) -> None:
        state = self._threads.state
        if name not in state.values:
            raise AttributeError(f"configuration has no thread-local entry {name!r}")
        del state.values[name]
        configuration_changes.renew()
        if name in _STATE_ENTRIES:
            state.set(name, self._global.__dict__.get(name, _STATE_ENTRIES[name]))
        elif _selects_kernels(name):
            state.refresh()

    def __dir__(self) -> list[str]:
        state = self._threads.state
        return sorted({*super().__dir__(), *_entries_of(self._global), *state.values})

    def show(self, file: TextIO | None = STANDARD_OUTPUT) -> None:
        """Prints the effective entries of the current thread, one per line, sorted by name.

        Args:
            file: Text stream to print to; ``sys.stdout`` by default.
        """
        state = self._threads.state
        _print_entries({**_entries_of(self._global), **state.values}, file)

    def __repr__(self) -> str:
        return _entries_text(self, {**_entries_of(self._global), **self._threads.state.values})


def _entries_text(config: object, entries: dict[str, Any]) -> str:
    texts = [f"{name}={entries[name]!r}" for name in sorted(entries)]
    return f"{type(config).__name__}({', '.join(texts)})"


def _states_of(config: LocalConfig) -> _States:
    return vars(config)["_threads"]


def _print_entries(entries: dict[str, Any], file: TextIO | None) -> None:
    width = max(map(len, entries), default=0)
    for name in sorted(entries):
        print(f"{name:<{width}} {entries[name]}", file=current_stream(file))


def declare(*entries: ConfigEntry) -> None:
    """Declares configuration entries and sets their initial values in ``chainer.global_config``.

    Args:
        entries: The entries.
    """
    for entry in entries:
        declared[entry.name] = entry
        # Programs call hasattr(GlobalConfig, name) to test whether a release has an entry.
        setattr(GlobalConfig, entry.name, None)
        # Layers read entries such as ``train`` at each call. A property is three times as fast as
        # __getattr__, which Python calls only after an AttributeError.
        setattr(LocalConfig, entry.name, property(partial(_read, entry.name)))
    for entry in entries:
        value = entry.initial_value()
        try:
            setattr(global_config, entry.name, value)
        except ImportError as error:
            # An invalid environment variable must not keep a program from starting.
            warnings.warn(f"{entry.variable}={value} has no effect: {error}", stacklevel=2)
            object.__setattr__(global_config, entry.name, entry.default)
            configuration_changes.renew()


def _read(name: str, local: LocalConfig) -> Any:
    """Returns the value of an entry in this thread, or else the global value."""
    members = local.__dict__
    own: dict[str, Any] = members["_threads"].state.values
    return own[name] if name in own else getattr(members["_global"], name)


#: Represents the previous value of an entry that was not set.
_ABSENT: Any = object()

global_config = GlobalConfig()
declare(*CORE_ENTRIES)
config = LocalConfig(global_config)

#: Holder of the :class:`ThreadState` of ``chainer.config``: ``threads.state``. For the core only.
threads: _States = _states_of(config)


class ConfigContext(contextlib.ContextDecorator):
    """Context manager that :func:`using_config` returns; also a decorator of functions.

    It may be entered several times, one after the other or nested.
    """

    def __init__(self, name: str, value: Any, config: LocalConfig) -> None:
        self._name = name
        self._value = value
        self._config = config
        self._previous: list[Any] = []
        self._is_used = False

    def __call__(self, func: Any) -> Any:
        """Returns a function that runs in this context."""
        # It counts as used even if the function is never called.
        self._is_used = True
        return super().__call__(func)

    def __del__(self) -> None:
        # Without "with", nothing was set. At the end of the process it does not matter any more.
        if not self.__dict__.get("_is_used", True) and not sys.is_finalizing():
            warn_once(
                "context without with",
                self._name,
                f"the context that sets config.{self._name} to {self._value!r} was not entered, "
                "so it had no effect: write it in a with statement, or assign to "
                f"chainer.config.{self._name}",
            )

    def __enter__(self) -> None:
        self._is_used = True
        values = _states_of(self._config).state.values
        previous = values.get(self._name, _ABSENT)
        setattr(self._config, self._name, self._value)
        self._previous.append(previous)

    def __exit__(self, *args: object) -> None:
        previous = self._previous.pop()
        if previous is not _ABSENT:
            setattr(self._config, self._name, previous)
        # The block may have deleted the entry itself.
        elif self._name in _states_of(self._config).state.values:
            delattr(self._config, self._name)
            entry = declared.get(self._name)
            if entry is not None and entry.apply is not None:
                # Deleting a value does not call apply(). But the process-wide value is in force
                # from now on, so it is applied here.
                entry.apply(getattr(self._config, self._name))


class BackpropMode:
    """Context manager that sets ``enable_backprop`` of the current thread.

    It does the same as :func:`using_config`, but neither looks the entry up nor checks the value.
    Every backward pass uses it. With :func:`using_config` the backward pass of a small function
    took a tenth longer.

    Args:
        state: State of the current thread.
        enabled: Value that the entry has inside the block.
    """

    __slots__ = ("_enabled", "_previous", "_state")

    def __init__(self, state: ThreadState, enabled: bool) -> None:
        self._state = state
        self._enabled = enabled

    def __enter__(self) -> None:
        state = self._state
        self._previous: Any = state.values.get("enable_backprop", _ABSENT)
        state.values["enable_backprop"] = state.enable_backprop = self._enabled

    def __exit__(self, *args: object) -> None:
        state = self._state
        if self._previous is _ABSENT:
            state.values.pop("enable_backprop", None)
            state.enable_backprop = state._global.__dict__.get("enable_backprop", True)  # pyright: ignore[reportPrivateUsage]
        else:
            state.values["enable_backprop"] = state.enable_backprop = self._previous


def using_config(name: str, value: Any, config: LocalConfig = config) -> ConfigContext:
    """Context manager that sets a configuration entry of the current thread.

    It may be entered several times, one after the other or nested.

    Args:
        name (str): Name of the entry.
        value: Value that it has inside the block.
        config (LocalConfig): Configuration to change; ``chainer.config`` by default.

    Example:
        >>> with chainer.using_config('train', False):
        ...     chainer.config.train
        False
        >>> chainer.config.train
        True
    """
    return ConfigContext(name, value, config)
