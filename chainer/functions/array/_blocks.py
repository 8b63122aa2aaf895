"""Blocks of pixels to channels and back, on raw arrays.

NumPy copies along the innermost axis of an array, which is short here. So whole rows of pixels are
copied where they can, and single pixels by their numbers where the rows are short, too.
"""

from __future__ import annotations

from typing import Any

#: Rows up to this length are short.
_SHORT = 8


def space_to_depth(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, r r C, h, w)`` for ``(B, C, h r, w r)``."""
    batch, channels, height, width = x.shape
    h, w = height // r, width // r
    if w <= _SHORT:
        numbers = xp.arange(channels * height * width).reshape(channels, h, r, w, r)
        y = _take(x, numbers.transpose(2, 4, 0, 1, 3))
    else:
        rows = x.reshape(batch, channels * h, r, w * r).swapaxes(1, 2)
        y = rows.reshape(batch, r, channels * h * w, r).swapaxes(2, 3)
    return y.reshape(batch, r * r * channels, h, w)


def depth_to_space(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, C, h r, w r)`` for ``(B, r r C, h, w)``."""
    batch, depth, h, w = x.shape
    channels = depth // (r * r)
    if w <= _SHORT:
        numbers = xp.arange(depth * h * w).reshape(r, r, channels, h, w)
        y = _take(x, numbers.transpose(2, 3, 0, 4, 1))
    else:
        blocks = x.reshape(batch, r, r, channels, h, w)
        y = xp.empty((batch, channels, h, r, w, r), dtype=x.dtype)
        for column in range(r):
            y[..., column] = blocks[:, :, column].transpose(0, 2, 3, 1, 4)
    return y.reshape(batch, channels, h * r, w * r)


def _take(x: Any, numbers: Any) -> Any:
    """Rearranges the elements of each sample."""
    return x.reshape(len(x), numbers.size).take(numbers.ravel(), axis=1)
