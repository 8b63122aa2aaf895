"""The logistic function, on arrays."""

from __future__ import annotations

from typing import Any


def logistic(xp: Any, x: Any) -> Any:
    """Returns ``1 / (1 + exp(-x))``, accurate for very negative ``x`` too, as a new array.

    The exponential may overflow: the result is zero then, as it should.
    """
    y = xp.negative(x)
    xp.exp(y, out=y)
    y += 1
    return xp.divide(1, y, out=y)
