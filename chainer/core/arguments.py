"""Errors about arguments of the wrong kind: they name the argument, what it must be, what came."""

from __future__ import annotations

import reprlib


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    """Returns the error of an argument of the wrong type.

    Args:
        name: Name of the argument.
        expected: Description of a valid value.
        value: The given value.
    """
    if isinstance(value, type):
        made = f"{value.__name__}(...)"
        return TypeError(f"{name} must be {expected}, got the class {value.__name__}: write {made}")
    kind = "" if value is None else f" of type {type(value).__name__}"
    return TypeError(f"{name} must be {expected}, got {reprlib.repr(value)}{kind}")


def require_attribute(name: str, value: object, attribute: str, expected: str) -> None:
    """Checks that an argument has an attribute.

    Args:
        name: Name of the argument.
        value: The argument.
        attribute: The attribute that is needed.
        expected: Description of a valid argument, for the message.

    Raises:
        TypeError: If it lacks the attribute, or is a class instead of an object of it.
    """
    if isinstance(value, type) or not hasattr(value, attribute):
        raise wrong_type(name, expected, value)
