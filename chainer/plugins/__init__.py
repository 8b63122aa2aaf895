"""The plugin host. Everything that a user can name comes from a *pack*, in Chainer itself as well.

A pack is a light module named by an entry point of group ``chainer``. Its functions with the names
of the hooks in :mod:`chainer.plugins.hookspecs` register names. ``import chainer`` finds the
installed packs from their metadata alone; a pack is imported when its names are needed.

Example:
    The same at run time, in a notebook or test:

    >>> import chainer
    >>> class Halves:
    ...     def chainer_functions(self, registry):
    ...         registry.register("halve", lambda x: x / 2)
    >>> plugin = Halves()
    >>> record = chainer.plugins.register(plugin)
    >>> record.state, record.registered_names()
    ('loaded', {'functions': ['halve']})
    >>> record = chainer.plugins.unregister(plugin)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from chainer.core import events
from chainer.core.config.configuration import declare
from chainer.core.config.entries import ConfigEntry, are_names
from chainer.core.lazy import lazy_module
from chainer.core.registry import registries
from chainer.core.registry.registry import EntryLoadError, NameConflictError
from chainer.plugins.api_version import API_VERSION
from chainer.plugins.errors import (
    IncompatiblePluginError,
    PluginError,
    PluginWarning,
    UnknownHookError,
)
from chainer.plugins.manager import PluginManager
from chainer.plugins.records import PluginRecord

if TYPE_CHECKING:
    from chainer.plugins import cli, commands, hookspecs
    from chainer.plugins.hookspecs import hookimpl

__all__ = [
    "API_VERSION",
    "EntryLoadError",
    "IncompatiblePluginError",
    "NameConflictError",
    "PluginError",
    "PluginManager",
    "PluginRecord",
    "PluginWarning",
    "UnknownHookError",
    "cli",
    "commands",
    "enable",
    "hookimpl",
    "hookspecs",
    "load",
    "records",
    "register",
    "registries",
    "start",
    "unregister",
]

# Few programs need these modules, which take time to import.
__getattr__, __dir__ = lazy_module(
    globals(), {"hookimpl": ".hookspecs"}, submodules=("cli", "commands", "hookspecs")
)

_manager: PluginManager | None = None


def start(version: str) -> None:
    """Connects the registries to the installed packs; part of ``import chainer``. Imports no pack.

    Args:
        version: Version of Chainer.

    Example:
        ``import chainer`` has called it, so the installed packs are known:

        >>> {"functions", "links"} <= {record.name for record in chainer.plugins.records()}
        True
    """
    global _manager
    # A reload of chainer keeps the host, whose plugins are registered already.
    if _manager is None:
        _manager = PluginManager(version)
        registries.set_provider(_manager)
        declare(
            ConfigEntry(
                "enable_plugins",
                (),
                apply=_enable_from_configuration,
                accepted="tuple of str, or str",
                accepts=are_names,
                about="Plugins that are enabled, by entry point or distribution: what they "
                "register with `override=True` replaces Chainer's own, and their hooks for "
                "training events are called. For the whole process; a plugin stays enabled if the "
                "entry changes.",
            )
        )
        events.add_listener(_manager.emit)
        _manager.discover()


def _enable_from_configuration(value: object) -> None:
    _host().request(cast("Sequence[str]", (value,) if isinstance(value, str) else value))


def _host() -> PluginManager:
    if _manager is None:
        raise RuntimeError("the plugin host is not running; `import chainer` starts it")
    return _manager


def records() -> list[PluginRecord]:
    """Returns the records of all plugins, Chainer's own first. Does not import any.

    Example:
        >>> [record.name for record in chainer.plugins.records() if record.name == "functions"]
        ['functions']
    """
    return _host().records()


def enable(name: str) -> list[PluginRecord]:
    """Loads plugins by name, and enables what changes a program: overrides and event hooks.

    An installed plugin adds names. An entry with ``override=True`` replaces a name only if
    the user enables the plugin: by this function, by ``CHAINER_ENABLE_PLUGINS``, or by
    ``chainer.config.enable_plugins``. It is in effect from the first use of the name if the plugin
    is enabled before. Objects that the program already holds stay.

    Args:
        name: Name of an entry point or of a distribution.

    Returns:
        list of PluginRecord: The records of the plugins of that name.

    Raises:
        PluginError: If there is no such plugin, or it is blocked or cannot be loaded. The cause is
            chained.

    Example:
        >>> [record.state for record in chainer.plugins.enable("links")]
        ['loaded']
        >>> chainer.plugins.enable("no-such-plugin")
        Traceback (most recent call last):
            ...
        chainer.plugins.errors.PluginError: ...no-such-plugin...
    """
    return _host().load(name)


def load(name: str) -> list[PluginRecord]:
    """Does the same as :func:`enable`.

    Example:
        >>> (record,) = chainer.plugins.load("links")
        >>> "Linear" in record.registered_names()["links"]
        True
    """
    return _host().load(name)


def register(plugin: Any, name: str | None = None) -> PluginRecord:
    """Registers an object as a plugin, as if it were an installed pack.

    Args:
        plugin: Module or object with functions named like hooks.
        name: Name for messages and for :func:`unregister`; by default the module's or class's name.

    Returns:
        PluginRecord: Its record.

    Raises:
        PluginError: If it is registered already, is for another version of the plugin API, or
            implements an unknown hook.
        NameConflictError: If one of its names is registered already. Nothing is registered then.

    Example:
        >>> class Halves:
        ...     def chainer_functions(self, registry):
        ...         registry.register("halve", lambda x: x / 2)
        >>> plugin = Halves()
        >>> chainer.plugins.register(plugin, "halves").name
        'halves'
        >>> F.halve(np.array([1.0, 2.0]))
        array([0.5, 1. ])
        >>> record = chainer.plugins.unregister(plugin)
    """
    return _host().register(plugin, name)


def unregister(plugin: Any) -> PluginRecord:
    """Removes everything that a plugin registered. Entries it had replaced are active again.

    Args:
        plugin: The object given to :func:`register`, or a plugin's name.

    Returns:
        PluginRecord: Its record.

    Raises:
        PluginError: If no such plugin is loaded.

    Example:
        >>> class Halves:
        ...     def chainer_functions(self, registry):
        ...         registry.register("halve", lambda x: x / 2)
        >>> record = chainer.plugins.register(Halves(), "halves")
        >>> chainer.plugins.unregister("halves").name
        'halves'
        >>> hasattr(F, "halve")
        False
    """
    return _host().unregister(plugin)
