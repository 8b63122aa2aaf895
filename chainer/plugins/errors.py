"""Errors and warnings of the plugin host."""

from __future__ import annotations


class PluginWarning(UserWarning):
    """A plugin could not be used, or only in part. Shown once for each plugin."""


class PluginError(RuntimeError):
    """A plugin that was asked for by name, or in strict mode, cannot be used."""


class IncompatiblePluginError(PluginError):
    """The plugin was written for another version of the plugin API."""


class UnknownHookError(PluginError):
    """The plugin implements a hook that does not exist."""


class SharedModuleError(PluginError):
    """Another installed distribution has a plugin whose module has the same name."""
