"""Checks of objects that are registered: a link must be a Link class, a function a callable."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

Requirement = Callable[[Any], "str | None"]
"""Function that checks an object. It returns a description of the required object, such as
``'a subclass of chainer.Link'``, or None if the object satisfies the requirement."""


def is_callable(target: Any) -> str | None:
    """Requires a function or another callable object."""
    return None if callable(target) else "a function, class or other callable"


def subclass_of(base: str, name: str) -> Requirement:
    """Requires a subclass.

    Args:
        base: The base class, as ``"module:attribute"``. The check does not import it: as long as
            the class is not imported, it has no subclasses.
        name: Its public name, for messages.
    """

    def requirement(target: Any) -> str | None:
        expected = _find(base)
        if inspect.isclass(target) and expected is not None and issubclass(target, expected):
            return None
        return f"a subclass of {name}"

    return requirement


def instance_of(base: str, name: str) -> Requirement:
    """Requires an instance of a class. The arguments are the same as for :func:`subclass_of`."""

    def requirement(target: Any) -> str | None:
        expected = _find(base)
        if expected is not None and isinstance(target, expected):
            return None
        return f"an instance of {name}"

    return requirement


def complete_backend(target: Any) -> str | None:
    """Requires a backend that has the attributes by which backends are found for arrays."""
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


def describe_error(error: BaseException) -> str:
    """Returns the class and the text of an error of a plugin, whose methods may fail themselves.

    Args:
        error: The error.

    Example:
        >>> from chainer.core.registry.requirements import describe_error
        >>> describe_error(KeyError("x"))
        "KeyError: 'x'"
    """
    try:
        return f"{type(error).__name__}: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # the text may call sys.exit(), too
        return f"{type(error).__name__}, whose text raises {type(second).__name__}"


def describe(target: object) -> str:
    """Describes an object for messages. Its methods are not called, because they may fail."""
    if inspect.isclass(target):
        return f"the class {target.__module__}.{target.__qualname__}"
    kind = type(target)
    if kind in (int, float, bool, str, type(None)):
        return repr(target)
    name = getattr(target, "__qualname__", "") if inspect.isroutine(target) else ""
    return (
        f"{kind.__qualname__} {name}".strip() if name else f"an object of type {kind.__qualname__}"
    )
