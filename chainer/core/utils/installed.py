"""Asking whether a package is installed, without importing it."""

from __future__ import annotations

import importlib.util


def is_installed(name: str) -> bool:
    """Returns whether a package of this name can be imported.

    A module that a program has put into ``sys.modules`` by hand, as tests do with mocks, has no
    specification. It is not the package.

    Args:
        name: Name of the package.
    """
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:
        return False
