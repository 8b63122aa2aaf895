"""Blocks of pixels to channels and back, on raw arrays.

Both copy whole rows of pixels where they can: NumPy copies along the innermost axis of an array,
which would have the length ``r`` otherwise.
"""

from __future__ import annotations

from typing import Any


def space_to_depth(x: Any, r: int) -> Any:
    """Returns ``(B, r r C, h, w)`` for ``(B, C, h r, w r)``."""
    batch, channels, height, width = x.shape
    h, w = height // r, width // r
    rows = x.reshape(batch, channels * h, r, w * r).swapaxes(1, 2)
    pixels = rows.reshape(batch, r, channels * h * w, r).swapaxes(2, 3)
    return pixels.reshape(batch, r * r * channels, h, w)


def depth_to_space(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, C, h r, w r)`` for ``(B, r r C, h, w)``."""
    batch, depth, h, w = x.shape
    channels = depth // (r * r)
    blocks = x.reshape(batch, r, r, channels, h, w)
    y = xp.empty((batch, channels, h, r, w, r), dtype=x.dtype)
    for column in range(r):
        y[..., column] = blocks[:, :, column].transpose(0, 2, 3, 1, 4)
    return y.reshape(batch, channels, h * r, w * r)
