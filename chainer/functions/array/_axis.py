"""Checks of axis arguments that functions on arrays share."""

from __future__ import annotations

from typing import Any

from chainer.core.utils import type_check
from chainer.functions._scalars import as_int


def expect_axis(x_type: Any, axis: int) -> None:
    """Expects an array to have an axis."""
    if axis >= 0:
        type_check.expect(x_type.ndim > axis)
    else:
        type_check.expect(x_type.ndim >= -axis)


def require_int(value: Any, name: str) -> None:
    """Raises TypeError unless an argument is an integer."""
    as_int(value, f"{name} must be int, got {type(value).__name__}")
