"""The logistic function, on arrays."""

from __future__ import annotations

from typing import Any

LARGEST = 80.0
"""Arguments of exp beyond this change nothing in float32, and overflow soon."""


def logistic(xp: Any, x: Any) -> Any:
    """Returns ``1 / (1 + exp(-x))``, accurate for very negative ``x`` too, as a new array."""
    y = xp.negative(x)
    xp.minimum(y, LARGEST if y.dtype.itemsize == 4 else 8 * LARGEST, out=y)
    xp.exp(y, out=y)
    y += 1
    return xp.divide(1, y, out=y)
