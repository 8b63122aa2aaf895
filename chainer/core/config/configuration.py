"""Configuration: process-wide values with overrides of threads and of tasks.

``chainer.global_config`` holds the defaults, ``chainer.config`` the values of the current thread.
A block of :func:`using_config` that is entered in an event loop is in force in its own task only.
The core reads a few entries at every call of a function. Their values are attributes of a
:class:`ThreadState`, which is updated when an entry changes, so that reading them is fast.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
import warnings
import weakref
from collections.abc import Iterable
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO, cast

from chainer.core.arguments import wrong_type
from chainer.core.change_number import ChangeNumber
from chainer.core.config.entries import CORE_ENTRIES, ConfigEntry, declared
from chainer.core.config.kernel_policy import KernelPolicy, current_policy
from chainer.core.misuse import similar, warn_once
from chainer.core.safe_exit import safe_exit
from chainer.core.streams import STANDARD_OUTPUT, current_stream

if TYPE_CHECKING:
    from chainer.core.arrays.recorder import Recorder
    from chainer.core.autograd.accumulate import ArraySums
    from chainer.core.autograd.function_hook import FunctionHook


#: Entries that a :class:`ThreadState` has as attributes -> default value.
_STATE_ENTRIES = {
    "debug": False,
    "enable_backprop": True,
    "lazy_grad_sum": False,
    "type_check": True,
}


#: Number that changes whenever an entry of the process or of a thread changes. Changes by backward
#: passes are not counted.
configuration_changes = ChangeNumber()


#: Represents the value of an entry that is not set.
ABSENT: Any = object()


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

    A block that is entered in an event loop has a state of its own (:meth:`derived`), in which the
    task works until it leaves the block.

    Attributes:
        values: The entries set in this thread only.
        parent: The state that was in force before; None for the state of a thread.
        base: The state of the thread; None if this is one.
        inherited: The entries set in the parent when this state was made.
        hooks: The function hooks installed in this thread, by name.
        enable_backprop: Effective value of the entry of this name. The same holds for ``debug``,
            ``type_check`` and ``lazy_grad_sum``.
        is_common: Whether types are checked, and neither debug mode nor ``lazy_grad_sum`` is on.
        policy: The effective :class:`KernelPolicy`.
        light_type_check: Whether a ``check_type_forward`` runs on plain values at the moment.
        recorder: The recorder of the step that is being recorded in this thread; None otherwise.
            :func:`chainer.capture` sets it while :meth:`Recorder.run` runs, and nothing else does.
        gradient_sums: Sums of the gradients of the backward pass that runs, if they are arrays
            that nothing observes; None otherwise.
    """

    # Every call of a function reads some of these. Slots are the fastest to read.
    __slots__ = (
        "__weakref__",
        "_global",
        "base",
        "debug",
        "enable_backprop",
        "gradient_sums",
        "hooks",
        "inherited",
        "is_common",
        "lazy_grad_sum",
        "light_type_check",
        "parent",
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
        self.gradient_sums: ArraySums | None = None
        self.parent: ThreadState | None = None
        self.base: ThreadState | None = None
        self.inherited: dict[str, Any] = {}
        self.refresh()

    def derived(self) -> ThreadState:
        """Returns the state of a block, with the values and the hooks of this one."""
        state = ThreadState(self._global)
        state.hooks = self.hooks
        state.light_type_check = self.light_type_check
        state.recorder = self.recorder
        state.parent = self
        state.base = self.base or self
        state.values = dict(self.values)
        state.inherited = dict(self.values)
        state.refresh()
        self._global._attach(state)  # pyright: ignore[reportPrivateUsage]
        return state

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

    def follow(self, name: str) -> None:
        """Recomputes what depends on an entry that was changed in :attr:`values`."""
        # All values are looked up again only where the choice of kernels depends on them:
        # backward passes and links change the others often.
        if name in _STATE_ENTRIES:
            shared = self._global.__dict__.get(name, _STATE_ENTRIES[name])
            setattr(self, name, self.values.get(name, shared))
            self._find_common()
        elif _selects_kernels(name):
            self.refresh()

    def put(self, name: str, value: Any) -> None:
        """Sets an entry of this state; :data:`ABSENT` removes it.

        The value is not checked. Calling this twice is the same as calling it once, even if the
        first call was interrupted.
        """
        if value is ABSENT:
            self.values.pop(name, None)
        else:
            self.values[name] = value
        configuration_changes.renew()
        self.follow(name)

    def needs_no_node(self) -> bool:
        """Returns whether functions that are called now enter no graph, and nothing observes them.

        Their values can be computed without function nodes then. A text is decoded by hundreds of
        functions of few numbers, which take less time than a node.
        """
        return not (self.enable_backprop or self.hooks) and self.is_common

    def _find_common(self) -> None:
        # Each call of a function then needs one test instead of three.
        self.is_common: bool = self.type_check and not (self.debug or self.lazy_grad_sum)


class GlobalConfig:
    """Process-wide configuration values.

    Any attribute may be set; names of user entries should start with ``user_``. Entries of the
    thread-local :class:`LocalConfig` hide the values here for their thread.

    Example:
        >>> chainer.global_config.user_rate = 0.5
        >>> chainer.config.user_rate
        0.5
        >>> del chainer.global_config.user_rate
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


class _StateOfTask:
    """Class attribute ``state`` of :class:`_States`: the state of the current task.

    Python reads it only while the attribute of the thread is missing, that is while blocks are open
    that may be suspended. Programs without an event loop thus read a plain attribute.
    """

    def __get__(self, states: _States, owner: type) -> ThreadState:
        state = states.scope.get()
        # Contexts may be copied to other threads, which have states of their own.
        return states.base if state is None or state.base is not states.base else state


class _States(threading.local):
    """Holds one :class:`ThreadState` for each thread, made at its first use in the thread."""

    #: The state that is in force in this thread, or in this task.
    state: ThreadState = cast("ThreadState", _StateOfTask())

    # threading.local calls this again in each thread that reads an attribute.
    def __init__(self, global_config: GlobalConfig, scope: ContextVar[ThreadState | None]) -> None:
        self.scope = scope
        self.state = self.base = ThreadState(global_config)
        #: References to the states of blocks that some task is in.
        self._blocks: set[weakref.ref[ThreadState]] = set()
        global_config._attach(self.state)  # pyright: ignore[reportPrivateUsage]

    def enter(self) -> ThreadState:
        """Returns the state that a context has to change: one of its own if it may be suspended."""
        state = self.state
        if not _may_be_suspended():
            return state
        state = state.derived()
        members, blocks, base = self.__dict__, self._blocks, self.base

        def gone(reference: weakref.ref[ThreadState]) -> None:
            blocks.discard(reference)
            if not blocks:
                members["state"] = base

        # Not counted by leave(): tasks that were started in the block may go on after its end.
        blocks.add(weakref.ref(state, gone))
        self.scope.set(state)
        members.pop("state", None)
        return state

    def leave(self, state: ThreadState, name: str) -> Iterable[ThreadState]:
        """Ends what :meth:`enter` has begun.

        Args:
            state: The result of :meth:`enter`.
            name: The entry that was set in it.

        Returns:
            The states in which the previous value is to be restored.
        """
        parent = state.parent
        if parent is None:
            return (state,)
        scope = self.scope.get()
        if scope is state:
            # Other entries that the block has set stay set, as without an event loop.
            for other in {*state.values, *state.inherited} - {name}:
                value = state.values.get(other, ABSENT)
                if value is not state.inherited.get(other, ABSENT):
                    parent.put(other, value)
            self.scope.set(parent if parent.parent is not None else None)
            return ()
        # Blocks that were entered later are still open; or another task leaves the block.
        inner: list[ThreadState] = []
        while scope is not None and scope is not state:
            inner.append(scope)
            scope = scope.parent
        return () if scope is None else (*inner, state)


def _may_be_suspended() -> bool:
    """Returns whether other tasks may run before the context that is entered now is left.

    This is so if an event loop of asyncio runs in this thread, or if the ``with`` statement is in a
    coroutine.
    """
    get_loop = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    if get_loop is not None and get_loop() is not None:
        return True
    # The frames between are enter() and __enter__().
    return bool(sys._getframe(3).f_code.co_flags & _COROUTINE)  # pyright: ignore[reportPrivateUsage]


#: Flags of the code of ``async def`` functions and of functions with ``types.coroutine``.
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


class LocalConfig:
    """Thread-local configuration values over a global configuration.

    Setting an attribute affects the current thread only. Reading an attribute that is not set in
    this thread returns the global value. Deleting an attribute makes the global value visible
    again.

    Args:
        global_config (GlobalConfig): Configuration to fall back to.

    Example:
        >>> with chainer.using_config("train", False):
        ...     print(chainer.config.train, chainer.global_config.train)
        False True
    """

    _global: GlobalConfig
    _threads: _States

    def __init__(self, global_config: GlobalConfig) -> None:
        if not isinstance(global_config, GlobalConfig):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type("global_config", "a GlobalConfig", global_config)
        object.__setattr__(self, "_global", global_config)
        scope: ContextVar[ThreadState | None] = ContextVar("chainer.config", default=None)
        object.__setattr__(self, "_threads", _States(global_config, scope))

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
        state.put(name, value)

    def __delattr__(self, name: str) -> None:
        state = self._threads.state
        if name not in state.values:
            raise AttributeError(f"configuration has no thread-local entry {name!r}")
        state.put(name, ABSENT)

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
        #: For each entry: the state of the thread or task, and the value that was set there.
        self._entered: list[tuple[ThreadState, Any]] = []

        #: Warns when this object dies, unless it was used.
        self._unused = weakref.ref(self, partial(_warn_of_unused, name, value))

    def __call__(self, func: Any) -> Any:
        """Returns a function that runs in this context."""
        # It counts as used even if the function is never called.
        self._unused = None
        return super().__call__(func)

    def _depth(self) -> int:
        return len(self._entered)

    def __enter__(self) -> None:
        self._unused = None
        state = _states_of(self._config).enter()
        # Before the change, so that it is undone if Ctrl-C interrupts it.
        self._entered.append((state, state.values.get(self._name, ABSENT)))
        try:
            setattr(self._config, self._name, self._value)
        except BaseException:
            self._leave()
            raise

    @safe_exit
    def __exit__(self, *args: object) -> None:
        self._leave()

    def _leave(self) -> None:
        """Undoes one entry. Each step may be repeated; see :func:`safe_exit`."""
        state, previous = self._entered[-1]
        for each in _states_of(self._config).leave(state, self._name):
            each.put(self._name, previous)
        entry = declared.get(self._name)
        if entry is not None and entry.apply is not None:
            # The process follows the value that is in force from now on.
            entry.apply(getattr(self._config, self._name))
        self._entered.pop()


def _warn_of_unused(name: str, value: object, _: object) -> None:
    """Warns that a context died without a ``with`` statement, so that nothing was set."""
    # Not __del__(), which would run for each context: Python drops what Ctrl-C raises there.
    # At the end of the process it does not matter any more.
    if not sys.is_finalizing():
        warn_once(
            "context without with",
            name,
            f"the context that sets config.{name} to {value!r} was not entered, so it had no "
            f"effect: write it in a with statement, or assign to chainer.config.{name}",
        )


def using_config(name: str, value: Any, config: LocalConfig = config) -> ConfigContext:
    """Context manager that sets a configuration entry of the current thread.

    It may be entered several times, one after the other or nested.

    In an event loop (asyncio, or a ``with`` statement in a coroutine) the value is in force in the
    current task, and in tasks that the block starts. Other tasks of the thread do not see it. A
    function that runs in such a block takes about 0.2 microseconds longer.

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
