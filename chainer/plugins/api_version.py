"""The version of the plugin API, and the check that a pack was written for it.

A pack declares the version that it was written for with one line in its module::

    chainer_api = 1

The line is read from the source file before the pack is imported, so that a pack for another
version is refused with a clear message and not with an arbitrary error of its import. If the source
file is not found (zip files, import hooks), the attribute is checked right after the import. A pack
without the line counts as written for version 1.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

from chainer.plugins.errors import IncompatiblePluginError

API_VERSION = 1
"""Version of the plugin API. It changes if existing packs would no longer work."""

# A search in the text: the pack may be written for a Python whose syntax this one cannot parse.
_LINE = rb"(?m)^chainer_api\s*(?::[^=\n]*)?=\s*([^#\n]*)"


def check_source(target: str, location: str) -> None:
    """Checks the version that a pack declares, without importing it.

    Args:
        target: Target of its entry point.
        location: Its metadata folder. The modules of a distribution are usually beside it.

    Raises:
        IncompatiblePluginError: If the source declares another version.
    """
    places = [os.path.dirname(location)] if location else []
    file = source_file(target.partition(":")[0], [*places, *sys.path])
    if file is None:
        return
    try:
        with open(file, "rb") as source:
            match = re.search(_LINE, source.read())
    except OSError:
        return
    if match is not None:
        value = match[1].strip().decode("utf-8", "replace")
        _check(int(value) if value.isdecimal() else value)


def check_module(plugin: object) -> None:
    """Checks the version that an imported pack declares, on the object itself or on its module.

    Args:
        plugin: Module or object that the entry point refers to.

    Raises:
        IncompatiblePluginError: If it was written for another version.
    """
    module = sys.modules.get(getattr(plugin, "__module__", None) or "")
    _check(getattr(plugin, "chainer_api", getattr(module, "chainer_api", 1)))


def _check(declared: object) -> None:
    if type(declared) is not int:  # not isinstance(): True is not a version
        raise IncompatiblePluginError(
            f"chainer_api must be an integer such as {API_VERSION}, got {declared!r}"
        )
    if declared != API_VERSION:
        advice = "update the plugin" if declared < API_VERSION else "update chainer"
        raise IncompatiblePluginError(
            f"it was written for version {declared} of the plugin API, this chainer has version "
            f"{API_VERSION}; {advice}"
        )


def source_file(module: str, places: Iterable[object]) -> str | None:
    """Returns the source file of a module in the first folder that has one; None without one.

    Args:
        module: Name of the module.
        places: Folders, as in ``sys.path``.
    """
    parts = module.split(".")
    for place in places:
        if not isinstance(place, str):
            continue
        stem = os.path.join(place or ".", *parts)
        for file in (stem + ".py", os.path.join(stem, "__init__.py")):
            if os.path.isfile(file):
                return file
    return None
