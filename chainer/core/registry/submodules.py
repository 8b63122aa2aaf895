"""Submodules that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any


def submodule_getattr(module_globals: dict[str, Any]) -> Callable[[str], Any]:
    """Returns ``__getattr__`` for a package whose submodules are imported at first access.

    So ``chainer.links.connection.linear`` is there after ``import chainer`` as in earlier releases,
    which imported everything.

    Args:
        module_globals: ``globals()`` of the package.
    """
    package: str = module_globals["__name__"]

    def getattr_(name: str) -> Any:
        if name.startswith("_") or not is_submodule(module_globals, name):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(f"{package}.{name}")

    return getattr_


def is_submodule(module_globals: dict[str, Any], name: str) -> bool:
    """Whether a package has a submodule of this name, imported or not."""
    if "__path__" not in module_globals:
        return False
    return importlib.util.find_spec(f"{module_globals['__name__']}.{name}") is not None
