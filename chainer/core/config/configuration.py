"""Configuration: process-wide values with thread-local overrides.

``chainer.global_config`` holds the defaults, ``chainer.config`` the values of the current thread.
The core reads a handful of entries for every function application; those are kept ready-made in a
:class:`ThreadState` that is recomputed whenever an entry changes, not whenever it is read.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import numpy

from chainer.core.config.mixed16 import mixed16
from chainer.core.streams import STANDARD_OUTPUT, current_stream

if TYPE_CHECKING:
    from chainer.core.autograd.function_hook import FunctionHook


class KernelPolicy:
    """The configuration entries that decide which kernel serves an operation, as one object.

    Equal settings always give the same object, so that kernel tables can use it as a key by
    identity.

    Attributes:
        use_cudnn: ``'always'``, ``'auto'`` or ``'never'``.
        use_ideep: ``'always'``, ``'auto'`` or ``'never'``.
        kernels: Names of the kernel providers the user prefers, most preferred first.
        deterministic: Whether kernels must be deterministic (entry ``cudnn_deterministic``).
        tensor_core: Value of the entry ``use_cudnn_tensor_core``.
        autotune: Value of the entry ``autotune``.
    """

    __slots__ = ("autotune", "deterministic", "kernels", "tensor_core", "use_cudnn", "use_ideep")

    def __init__(self, key: tuple[Any, ...]) -> None:
        self.use_cudnn: str = key[0]
        self.use_ideep: str = key[1]
        self.kernels: tuple[str, ...] = key[2]
        self.deterministic: bool = key[3]
        self.tensor_core: str = key[4]
        self.autotune: bool = key[5]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"KernelPolicy({fields})"

    def setting(self, provider: str) -> str:
        """Returns what the configuration says of a provider: ``always``, ``auto`` or ``never``.

        Providers other than ``cudnn`` and ``ideep`` are on only when ``config.kernels`` names them.
        """
        if provider == "cudnn":
            return self.use_cudnn
        if provider == "ideep":
            return self.use_ideep
        return "always" if provider in self.kernels else "never"

    def forbids(self, backend: str) -> bool:
        """Tells whether an entry of its own forbids the kernels of a backend."""
        return backend == "ideep" and self.use_ideep == "never"


_policies: dict[tuple[Any, ...], KernelPolicy] = {}


def _policy(get: Any) -> KernelPolicy:
    kernels = get("kernels", ())
    key = (
        get("use_cudnn", "auto"),
        get("use_ideep", "never"),
        (kernels,) if isinstance(kernels, str) else tuple(kernels),
        bool(get("cudnn_deterministic", False)),
        get("use_cudnn_tensor_core", "auto"),
        bool(get("autotune", False)),
    )
    policy = _policies.get(key)
    if policy is None:
        policy = _policies.setdefault(key, KernelPolicy(key))
    return policy


#: Entries whose change makes the ready-made values of a ThreadState stale.
_READY_MADE = frozenset(
    {
        "autotune",
        "cudnn_deterministic",
        "debug",
        "enable_backprop",
        "kernels",
        "lazy_grad_sum",
        "type_check",
        "use_cudnn",
        "use_cudnn_tensor_core",
        "use_ideep",
    }
)
#: Those of them that are effective as they are -> default value.
_PLAIN = {"debug": False, "enable_backprop": True, "lazy_grad_sum": False, "type_check": True}
_CHOICES = ("always", "auto", "never")
_CHOICE_ENTRIES = frozenset({"use_cudnn", "use_ideep", "use_cudnn_tensor_core"})


def _check_entry(name: str, value: Any) -> None:
    if name in _CHOICE_ENTRIES and value not in _CHOICES:
        raise ValueError(f"config.{name} must be 'always', 'auto' or 'never', got {value!r}")


class ThreadState:
    """What the core keeps for one thread: local configuration values and function hooks.

    Attributes:
        values: The entries set in this thread only.
        hooks: The function hooks installed in this thread, by name.
        enable_backprop: Effective value of the entry of this name; so are ``debug``,
            ``type_check`` and ``lazy_grad_sum``.
        policy: The effective :class:`KernelPolicy`.
    """

    __slots__ = (
        "__weakref__",
        "_global",
        "debug",
        "enable_backprop",
        "hooks",
        "lazy_grad_sum",
        "policy",
        "type_check",
        "values",
    )

    def __init__(self, global_config: GlobalConfig) -> None:
        self._global = global_config
        self.values: dict[str, Any] = {}
        self.hooks: dict[str, FunctionHook] = {}
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
        self.policy: KernelPolicy = _policy(get)


class GlobalConfig:
    """Process-wide configuration values.

    Any attribute may be set; names of user entries should start with ``user_``. Entries of the
    thread-local :class:`LocalConfig` hide the values here for their thread.
    """

    _states: weakref.WeakSet[ThreadState]
    _lock: threading.Lock

    def __init__(self) -> None:
        object.__setattr__(self, "_states", weakref.WeakSet())
        object.__setattr__(self, "_lock", threading.Lock())

    def __setattr__(self, name: str, value: Any) -> None:
        _check_entry(name, value)
        object.__setattr__(self, name, value)
        self._refresh()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        self._refresh()

    def _attach(self, state: ThreadState) -> None:
        with self._lock:
            self._states.add(state)

    def _refresh(self) -> None:
        with self._lock:
            for state in self._states:
                state.refresh()

    def _entries(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_states", "_lock")}

    def show(self, file: TextIO | None = STANDARD_OUTPUT) -> None:
        """Prints the entries, one per line, sorted by name.

        Args:
            file: Text stream to print to; ``sys.stdout`` by default.
        """
        _print_entries(self._entries(), file)

    def __reduce__(self) -> Any:
        return (_restore_global, (self._entries(),))


def _restore_global(entries: dict[str, Any]) -> GlobalConfig:
    restored = GlobalConfig()
    for name, value in entries.items():
        setattr(restored, name, value)
    return restored


class _States(threading.local):
    """Gives every thread its own :class:`ThreadState` at first use."""

    def __init__(self, global_config: GlobalConfig) -> None:
        self.state = ThreadState(global_config)
        global_config._attach(self.state)  # pyright: ignore[reportPrivateUsage]


class LocalConfig:
    """Thread-local configuration values over a global configuration.

    Setting an attribute affects the current thread only; reading falls back to the global
    configuration; deleting an attribute uncovers the global value again.

    Args:
        global_config (GlobalConfig): Configuration to fall back to.
    """

    def __init__(self, global_config: GlobalConfig) -> None:
        object.__setattr__(self, "_global", global_config)
        object.__setattr__(self, "_threads", _States(global_config))

    def __getattr__(self, name: str) -> Any:
        values: dict[str, Any] = self._threads.state.values  # type: ignore[attr-defined]
        if name in values:
            return values[name]
        try:
            return getattr(self._global, name)  # type: ignore[attr-defined]
        except AttributeError:
            raise AttributeError(f"configuration has no entry {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        _check_entry(name, value)
        state = self._threads.state  # type: ignore[attr-defined]
        state.values[name] = value
        if name in _PLAIN:
            setattr(state, name, value)
        elif name in _READY_MADE:
            state.refresh()

    def __delattr__(self, name: str) -> None:
        state = self._threads.state  # type: ignore[attr-defined]
        if name not in state.values:
            raise AttributeError(f"configuration has no thread-local entry {name!r}")
        del state.values[name]
        if name in _PLAIN:
            setattr(state, name, self._global.__dict__.get(name, _PLAIN[name]))  # type: ignore[attr-defined]
        elif name in _READY_MADE:
            state.refresh()

    def __dir__(self) -> list[str]:
        state = self._threads.state  # type: ignore[attr-defined]
        return sorted({*super().__dir__(), *self._global._entries(), *state.values})  # type: ignore[attr-defined]

    def show(self, file: TextIO | None = STANDARD_OUTPUT) -> None:
        """Prints the effective entries of the current thread, one per line, sorted by name.

        Args:
            file: Text stream to print to; ``sys.stdout`` by default.
        """
        state = self._threads.state  # type: ignore[attr-defined]
        _print_entries({**self._global._entries(), **state.values}, file)  # type: ignore[attr-defined]


def _print_entries(entries: dict[str, Any], file: TextIO | None) -> None:
    width = max(map(len, entries), default=0)
    for name in sorted(entries):
        print(f"{name:<{width}} {entries[name]}", file=current_stream(file))


def _environment_flag(name: str, default: bool) -> bool:
    text = os.environ.get(name)
    if text is None:
        return default
    try:
        return bool(int(text))
    except ValueError:
        raise ValueError(f"environment variable {name} must be 0 or 1, got {text!r}") from None


def _environment_choice(name: str, default: str) -> str:
    value = os.environ.get(name, default)
    if value not in _CHOICES:
        raise ValueError(
            f"environment variable {name} must be 'always', 'auto' or 'never', got {value!r}"
        )
    return value


def _environment_dtype(name: str) -> Any:
    text = os.environ.get(name, "float32")
    if text == "mixed16":
        return mixed16
    if text not in ("float16", "float32", "float64"):
        raise TypeError(
            f"environment variable {name} must be 'float16', 'float32', 'float64' or 'mixed16', "
            f"got {text!r}"
        )
    return numpy.dtype(text)


def _defaults() -> GlobalConfig:
    entries = GlobalConfig()
    values = {
        "autotune": False,
        "cudnn_deterministic": False,
        "debug": _environment_flag("CHAINER_DEBUG", False),
        "dtype": _environment_dtype("CHAINER_DTYPE"),
        "enable_backprop": True,
        "in_recomputing": False,
        "keep_graph_on_report": _environment_flag("CHAINER_KEEP_GRAPH_ON_REPORT", False),
        "kernels": tuple(filter(None, os.environ.get("CHAINER_KERNELS", "").split(","))),
        "lazy_grad_sum": _environment_flag("CHAINER_LAZY_GRAD_SUM", False),
        "train": True,
        "type_check": _environment_flag("CHAINER_TYPE_CHECK", True),
        "use_cudnn": _environment_choice("CHAINER_USE_CUDNN", "auto"),
        "use_cudnn_tensor_core": "auto",
        "use_ideep": _environment_choice("CHAINER_USE_IDEEP", "never"),
        "_will_recompute": False,
    }
    for name, value in values.items():
        setattr(entries, name, value)
    return entries


global_config = _defaults()
config = LocalConfig(global_config)

#: Thread-local holder of the :class:`ThreadState` behind ``chainer.config``; for the core's use.
threads: _States = config._threads


@contextmanager
def using_config(name: str, value: Any, config: LocalConfig = config) -> Generator[None]:
    """Context manager that sets a configuration entry of the current thread.

    Args:
        name (str): Name of the entry.
        value: Value it has inside the block.
        config (LocalConfig): Configuration to change; ``chainer.config`` by default.

    Example:
        >>> with chainer.using_config('train', False):
        ...     chainer.config.train
        False
        >>> chainer.config.train
        True
    """
    values = config._threads.state.values
    if name in values:
        previous = values[name]
        setattr(config, name, value)
        try:
            yield
        finally:
            setattr(config, name, previous)
    else:
        setattr(config, name, value)
        try:
            yield
        finally:
            if name in config._threads.state.values:
                delattr(config, name)
