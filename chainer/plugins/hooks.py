"""The part of the plugin host that works with pluggy; imported when the first pack is loaded."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pluggy

from chainer.core.registry import registries as all_registries
from chainer.core.registry.registry import Provenance, Registry
from chainer.plugins import hookspecs
from chainer.plugins.errors import PluginError, UnknownHookError
from chainer.plugins.staging import PackRegistry, Staged


class _PluginManager(pluggy.PluginManager):
    """Treats functions named like hooks as implementations, with or without ``hookimpl``.

    pluggy by itself ignores functions without the decorator. A forgotten decorator or a misspelled
    name would go unnoticed.
    """

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        options = super().parse_hookimpl_opts(plugin, name)
        if options is not None or not name.startswith(hookspecs.PREFIX):
            return options
        function = getattr(plugin, name, None)
        if not inspect.isroutine(function):
            return None
        # A function that the pack imports from another module is a helper, not a hook.
        if isinstance(plugin, ModuleType) and function.__module__ != plugin.__name__:
            return None
        return {}


def _new_manager() -> _PluginManager:
    manager = _PluginManager("chainer")
    manager.add_hookspecs(hookspecs)
    return manager


def collect(
    plugin: object, registries: Mapping[str, Registry], provenance: Provenance
) -> list[Staged]:
    """Calls the registry hooks of one plugin and returns what they register.

    Args:
        plugin: The module or object.
        registries: The registries by kind.
        provenance: Name and distribution of the plugin.

    Raises:
        PluginError: If a hook has no parameter, so that it cannot register anything.
        UnknownHookError: If it implements a hook that does not exist.
        PluginError: If a hook implementation has a parameter that the hook does not have.
    """
    # One pluggy manager for each plugin: an error in one cannot affect the others, and only the
    # implementations of this plugin are called.
    manager = _new_manager()
    try:
        manager.register(plugin, name="plugin")
    except pluggy.PluginValidationError as error:
        raise PluginError(_about_parameters(plugin) or str(error)) from error
    _check_names(manager, plugin)
    staged: list[Staged] = []
    for kind, registry in registries.items():
        caller = getattr(manager.hook, hookspecs.PREFIX + kind, None)
        if caller is None or not caller.get_hookimpls():
            continue
        if any([not impl.argnames for impl in caller.get_hookimpls()]):
            raise PluginError(
                f"its hook {caller.name}() must have the parameter 'registry': "
                f"def {caller.name}(registry)"
            )
        view = PackRegistry(registry, provenance)
        try:
            caller(registry=view)
        finally:
            view.open = False
        staged += view.staged
    return staged


def _about_parameters(plugin: object) -> str:
    """Returns what is wrong with the parameters of the hooks of a plugin; may be empty."""
    import difflib  # its import takes milliseconds

    for name in hook_names():
        function = getattr(plugin, name, None)
        if not inspect.isroutine(function):
            continue
        known, given = (
            [str(parameter) for parameter in inspect.signature(f).parameters]
            for f in (getattr(hookspecs, name), function)
        )
        for parameter in given:
            if parameter not in known:
                near = difflib.get_close_matches(parameter, known, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
                return f"its hook {name}() has the unknown parameter {parameter!r}; {hint}"
    return ""


def _check_names(manager: _PluginManager, plugin: object) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        known = hook_names()
        unknown = [
            caller.name
            for caller in manager.get_hookcallers(plugin) or []
            if caller.name not in known
        ]
        import difflib  # its import takes milliseconds

        texts: list[str] = []
        for name in unknown:
            near = difflib.get_close_matches(name, known, n=1)
            texts.append(repr(name) + (f" (did you mean {near[0]!r}?)" if near else ""))
        raise UnknownHookError(
            f"it implements unknown hook{'s' if len(texts) > 1 else ''} {', '.join(texts)}; "
            f"hooks are {', '.join(known)}"
        ) from error


def hook_names() -> list[str]:
    """Returns the names of all hooks, in the order in which they are documented."""
    return [
        name
        for name, value in vars(hookspecs).items()
        if name.startswith(hookspecs.PREFIX) and inspect.isfunction(value)
    ]


def event_hook_names() -> list[str]:
    """Returns the names of the hooks for events: those that fill no registry."""
    filling = {hookspecs.PREFIX + kind for kind in all_registries.ALL}
    return [name for name in hook_names() if name not in filling]


class EventHooks:
    """Calls the event hooks of the plugins that the user enabled."""

    def __init__(self) -> None:
        self._manager = _new_manager()
        self._lock = threading.Lock()  # pluggy's manager is not made for several threads

    def add(self, plugin: object) -> None:
        """Adds a plugin whose hooks are called from now on.

        Args:
            plugin: The module or object.
        """
        with self._lock:
            if not self._manager.is_registered(plugin):
                self._manager.register(plugin, name=f"{id(plugin):x}")

    def remove(self, plugin: object) -> None:
        """Removes a plugin.

        Args:
            plugin: The module or object.
        """
        with self._lock:
            if self._manager.is_registered(plugin):
                self._manager.unregister(plugin)

    def call(self, event: str, arguments: Mapping[str, Any]) -> None:
        """Calls the hook of an event. Events that have no hook are ignored.

        Args:
            event: Name of the hook.
            arguments: Its arguments.
        """
        hook = getattr(self._manager.hook, event, None)
        if hook is not None:
            hook(**arguments)


def name_of(plugin: object) -> str:
    """Returns the name of a plugin registered at run time: the name of its module or class.

    Args:
        plugin: The module or object.
    """
    name = getattr(plugin, "__name__", None) or type(plugin).__qualname__
    module = sys.modules.get(name)
    return name if module is plugin else name.rpartition(".")[2]
