"""The names of a new plugin, all derived from the one that its author gives it."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from dataclasses import dataclass

from chainer.plugins import _builtin
from chainer.plugins.discovery import normalize

_NAME = re.compile(r"[A-Z0-9](?:[A-Z0-9._-]*[A-Z0-9])?", re.IGNORECASE | re.ASCII)
_PREFIX = "chainer-"

#: Modules that must not be hidden by a module of a plugin, even if they are not installed here.
_RESERVED_MODULES = frozenset(
    {"chainer", "chainerx", "cupy", "ideep4py", "numpy", "pip", "pluggy", "pytest", "test", "tests"}
)
#: Words that have a meaning in device specifiers or as names of kernel providers.
_RESERVED_PLUGINS = frozenset(
    {"chainer", "cpu", "cuda", "cudnn", "gpu", "intel64", "native", "reference", "test", "tests"}
)


@dataclass(frozen=True)
class PluginNames:
    """The names of a plugin.

    Attributes:
        distribution: Name of the distribution and of its folder, normalized: ``'chainer-swish'``.
        module: Name of the package to import: ``'chainer_swish'``.
        plugin: Name of the entry point, and of a backend or kernel provider: the module without the
            prefix ``chainer_``, such as ``'swish'``; the whole name if the rest is reserved.
        camel: ``plugin`` as the beginning of class names: ``'Swish'``.
    """

    distribution: str
    module: str
    plugin: str
    camel: str


def plugin_names(name: str) -> PluginNames:
    """Derives all names of a plugin from the name of its distribution.

    Args:
        name: Name of the distribution, as its author writes it: ``'chainer-swish'``,
            ``'Chainer.Swish'``.

    Returns:
        PluginNames: The names.

    Raises:
        ValueError: If it is not a valid name of a distribution, if no module can have that name, or
            if there is a module of that name already.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            "the name of a distribution has ASCII letters, digits, '-', '_' and '.' only, and "
            f"begins and ends with a letter or digit, got {name!r}"
        )
    distribution = normalize(name)
    module = distribution.replace("-", "_")
    problem = _problem(module)
    if problem:
        raise ValueError(f"name {name!r} makes the module name {module!r}, {problem}")
    plugin = _plugin(distribution, module)
    camel = "".join(part[:1].upper() + part[1:] for part in plugin.split("_"))
    return PluginNames(distribution, module, plugin, camel)


def _problem(module: str) -> str:
    if not module.isidentifier():
        return "which does not begin with a letter and cannot be imported"
    if keyword.iskeyword(module):
        return "which is a keyword of Python and cannot be imported"
    if module in sys.stdlib_module_names:
        return "which would hide that of Python's standard library; try 'chainer-...'"
    if module in _RESERVED_MODULES:
        return "which is taken; try 'chainer-...'"
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.origin is not None:  # folders without __init__.py hide nothing
        return f"which is installed already ({spec.origin}); choose another, or uninstall that"
    return ""


def _plugin(distribution: str, module: str) -> str:
    short = distribution.removeprefix(_PREFIX).replace("-", "_")
    taken = short in _builtin.PACKS or short in _RESERVED_PLUGINS or keyword.iskeyword(short)
    return short if short.isidentifier() and not taken else module
