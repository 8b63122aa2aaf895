"""Arguments that are single numbers, of Python or NumPy."""

from __future__ import annotations

from typing import Any

import numpy


def as_int(value: Any, refusal: str) -> int:
    """Returns an integer as one of Python.

    Args:
        value: The argument.
        refusal: Text of the error.

    Raises:
        TypeError: If it is no integer.
    """
    if isinstance(value, (int, numpy.integer)):
        return int(value)
    raise TypeError(refusal)


def require_int(value: Any, name: str) -> int:
    """Returns an integer as one of Python.

    Args:
        value: The argument.
        name: Its name.

    Raises:
        TypeError: If it is no integer.
    """
    if value.__class__ is int:  # which it is nearly always
        return value
    return as_int(value, f"{name} must be int, got {type(value).__name__}")


def as_number(value: Any, name: str) -> int | float:
    """Returns a real number as one of Python, which does not change the dtype of arrays.

    Args:
        value: The argument.
        name: Its name.

    Raises:
        TypeError: If it is no real number.
    """
    if isinstance(value, (int, float, numpy.integer, numpy.floating)):
        return value.item() if isinstance(value, numpy.generic) else value
    raise TypeError(f"{name} must be a number, got {type(value).__name__}")
