"""Arguments that are single numbers, of Python or NumPy."""

from __future__ import annotations

from typing import Any

import numpy


def as_int(value: Any, error_message: str) -> int:
    """Converts an int-like value to a Python ``int``.

    Args:
        value: The argument.
        error_message: Text of the error.

    Raises:
        TypeError: If it is not an integer.
    """
    if isinstance(value, (int, numpy.integer)):
        return int(value)
    raise TypeError(error_message)


def require_int(value: Any, name: str) -> int:
    """Converts an int-like value to a Python ``int``.

    Args:
        value: The argument.
        name: Its name.

    Raises:
        TypeError: If it is not an integer.
    """
    if value.__class__ is int:  # the common case, which needs no conversion
        return value
    return as_int(value, f"{name} must be int, got {type(value).__name__}")


def as_number(value: Any, name: str) -> int | float:
    """Converts a real number to a Python number, which does not change the dtype of arrays.

    Args:
        value: The argument.
        name: Its name.

    Raises:
        TypeError: If it is not a real number.
    """
    if isinstance(value, (int, float, numpy.integer, numpy.floating)):
        return value.item() if isinstance(value, numpy.generic) else value
    raise TypeError(f"{name} must be a number, got {type(value).__name__}")
