"""Two distributions whose plugins are modules of one name.

Python imports one module of a name, and the order of folders on ``sys.path`` decides which. So
neither plugin is used, and the error names both, until one of them is removed or switched off.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from chainer.plugins.api_version import source_file
from chainer.plugins.discovery import normalize
from chainer.plugins.environment import DISABLE
from chainer.plugins.errors import SharedModuleError
from chainer.plugins.records import PluginRecord


def require_own_module(record: PluginRecord, records: Sequence[PluginRecord]) -> None:
    """Raises if the module of a plugin is also in another distribution. Imports nothing.

    Distributions whose files are elsewhere, such as editable installations, are not compared.

    Args:
        record: The plugin.
        records: All plugins.

    Raises:
        SharedModuleError: If it is, and neither is switched off; or if the module of one that is
            switched off is imported already.
    """
    file = own_file(record)
    if file is None:
        return
    module = _module(record)
    for other in records:
        theirs = None if _are_one(record, other) else own_file(other)
        if theirs is None or _module(other) != module:
            continue
        if other.state != "blocked":
            places = f"{file} and {theirs}" if theirs != file else file
            raise SharedModuleError(
                f"{record.provenance} and {other.provenance} both have a module {module!r} "
                f"({places}), and Python imports one of them only. Neither is used: uninstall one "
                f"of them, or switch one off, for instance {DISABLE}={other.distribution}"
            )
        if theirs != file and imported_file(module, sys.path) == theirs:
            raise SharedModuleError(
                f"Python imports the module {module!r} from {theirs}, which belongs to "
                f"{other.provenance}, and not from {file}: uninstall {other.distribution}"
            )


def own_file(record: PluginRecord) -> str | None:
    """Returns the file of the module in a plugin's distribution; None if it is elsewhere.

    Args:
        record: The plugin.
    """
    if record.builtin or not record.location:
        return None
    folder = os.path.dirname(record.location)
    file = source_file(_module(record), [folder])
    if file is None:
        return None
    try:
        with open(os.path.join(record.location, "RECORD"), encoding="utf-8") as listed:
            paths = {line.split(",", 1)[0].strip('"') for line in listed}
    except (OSError, UnicodeError):
        return file  # eggs have no such list
    return file if os.path.relpath(file, folder).replace(os.sep, "/") in paths else None


def imported_file(module: str, path: Sequence[object]) -> str | None:
    """Returns the file from which Python has imported a module, or would import it.

    Args:
        module: Name of the module.
        path: Folders, as in ``sys.path``.
    """
    return getattr(sys.modules.get(module), "__file__", None) or source_file(module, path)


def _module(record: PluginRecord) -> str:
    return record.target.partition(":")[0]


def _are_one(record: PluginRecord, other: PluginRecord) -> bool:
    return normalize(record.distribution) == normalize(other.distribution)
