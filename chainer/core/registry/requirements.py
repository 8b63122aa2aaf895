"""What an object must be to be registered: a Link class as a link, a callable as a function."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

Requirement = Callable[[Any], "str | None"]
"""Returns what an object should be, ``'a subclass of chainer.Link'``; None if it is that."""


def is_callable(target: Any) -> str | None:
    """Requires a function or another callable object."""
    return None if callable(target) else "a function, class or other callable"


def subclass_of(base: str, name: str) -> Requirement:
    """Requires a subclass.

    Args:
        base: The class, as ``"module:attribute"``. It is not imported: if it is not yet, nothing
            can be derived from it.
        name: Its public name, for messages.
    """

    def requirement(target: Any) -> str | None:
        expected = _find(base)
        if inspect.isclass(target) and expected is not None and issubclass(target, expected):
            return None
        return f"a subclass of {name}"

    return requirement


def instance_of(base: str, name: str) -> Requirement:
    """Requires an instance of a class; the arguments are those of :func:`subclass_of`."""

    def requirement(target: Any) -> str | None:
        expected = _find(base)
        if expected is not None and isinstance(target, expected):
            return None
        return f"an instance of {name}"

    return requirement


def complete_backend(target: Any) -> str | None:
    """Requires a backend that has the attributes without which no array finds it."""
    expected = instance_of("chainer.core.arrays.protocol:Backend", "chainer.backend.Backend")
    missing = expected(target)
    if missing is not None:
        return missing
    if not isinstance(getattr(target, "name", None), str):
        return "a backend with the attribute 'name', a str such as 'metered'"
    types: Any = getattr(target, "array_types", None)
    if isinstance(types, (tuple, list)) and all(map(_is_array_type, types)):  # pyright: ignore
        return None
    return (
        "a backend whose attribute 'array_types' is a tuple of classes, or of names such as "
        "'package.module:Class'"
    )


def _is_array_type(candidate: Any) -> bool:
    return isinstance(candidate, type) or (isinstance(candidate, str) and ":" in candidate)


def _find(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    return getattr(sys.modules.get(module), attribute, None)


def describe(target: object) -> str:
    """Returns an object for messages; its own methods are not called, because they may fail."""
    if inspect.isclass(target):
        return f"the class {target.__module__}.{target.__qualname__}"
    kind = type(target)
    if kind in (int, float, bool, str, type(None)):
        return repr(target)
    name = getattr(target, "__qualname__", "") if inspect.isroutine(target) else ""
    return (
        f"{kind.__qualname__} {name}".strip() if name else f"an object of type {kind.__qualname__}"
    )
