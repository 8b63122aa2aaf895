"""Looks up a name that a module or a class may have lost."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from chainer.compat.clients import numpy_names, python_names

#: Module name -> name -> function that returns the value. The module's own attributes come first.
REMOVED: dict[str, dict[str, Callable[[], Any]]] = {**python_names.REMOVED, **numpy_names.REMOVED}

#: As REMOVED, but used although the module has the name, because its meaning changed.
CHANGED: dict[str, dict[str, Callable[[], Any]]] = {**numpy_names.CHANGED}

#: Names of methods -> pairs of a class (a function that returns it) and the method.
METHODS: dict[str, list[tuple[Callable[[], type], Callable[..., Any]]]] = {
    **python_names.METHODS,
    **numpy_names.METHODS,
}

#: As METHODS, but used although the class has the method, because its meaning changed.
CHANGED_METHODS: dict[str, list[tuple[Callable[[], type], Callable[..., Any]]]] = {
    **numpy_names.CHANGED_METHODS
}

#: Module name -> all names that are restored in it.
MODULES: dict[str, frozenset[str]] = {
    module: frozenset(REMOVED.get(module, {})) | frozenset(CHANGED.get(module, {}))
    for module in REMOVED.keys() | CHANGED.keys()
}

#: All names whose lookups are replaced.
NAMES: frozenset[str] = frozenset(METHODS).union(CHANGED_METHODS, *MODULES.values())


def look_up(owner: object, name: str) -> Any:
    """Returns an attribute as it was before NumPy 2 and Python 3.11.

    Args:
        owner: Object whose attribute is needed: a module, or anything else.
        name (str): Name of the attribute.

    Returns:
        The attribute that ``owner`` has, unless it was removed or its meaning changed.

    Raises:
        AttributeError: If ``owner`` does not have the attribute and never had.
    """
    if isinstance(owner, ModuleType):
        changed = CHANGED.get(owner.__name__)
        if changed is not None and name in changed:
            return changed[name]()
    for get_class, method in CHANGED_METHODS.get(name, ()):
        if isinstance(owner, get_class()):
            return partial(method, owner)
    try:
        return getattr(owner, name)
    except AttributeError:
        if isinstance(owner, ModuleType):
            removed = REMOVED.get(owner.__name__, {})
            if name not in removed:
                raise
            return removed[name]()
        for get_class, method in METHODS.get(name, ()):
            if isinstance(owner, get_class()):
                return partial(method, owner)
        raise


def look_up_import(module: str, name: str) -> Any:
    """Returns what ``from module import name`` gives.

    Args:
        module (str): Name of a module, which is imported.
        name (str): Name of an attribute.

    Returns:
        The attribute, restored where :func:`look_up` restores it.

    Raises:
        ImportError: If the module does not have the attribute and never had.
    """
    try:
        return look_up(importlib.import_module(module), name)
    except AttributeError as error:
        raise ImportError(f"cannot import name {name!r} from {module!r}", name=name) from error
