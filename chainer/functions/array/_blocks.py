"""Blocks of pixels to channels and back, on raw arrays.

Both transpose axes. NumPy copies along the innermost axis of an array, which is short here. So rows
of the smaller pictures are copied where they can, and single pixels by their numbers where those
are short, too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy

#: Rows up to this length are short.
_SHORT = 8


def space_to_depth(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, r r C, h, w)`` for ``(B, C, h r, w r)``."""
    batch, channels, height, width = x.shape
    h, w = height // r, width // r
    if w <= _SHORT or xp is not numpy:
        y = _transpose(xp, x, (channels, h, r, w, r), (2, 4, 0, 1, 3))
    else:
        y = numpy.empty((batch, r, r, channels * h, w), dtype=x.dtype)
        pixels = x.reshape(batch, channels * h, r, w, r)
        for row in range(r):
            for column in range(r):
                y[:, row, column] = pixels[:, :, row, :, column]
    return y.reshape(batch, r * r * channels, h, w)


def depth_to_space(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, C, h r, w r)`` for ``(B, r r C, h, w)``."""
    batch, depth, h, w = x.shape
    channels = depth // (r * r)
    if xp is numpy and w <= channels:
        # Channels last in memory: longer rows.
        pixels = x.reshape(batch, r, r, channels, h, w).transpose(0, 4, 1, 5, 2, 3)
        pixels = numpy.ascontiguousarray(pixels).reshape(batch, h * r, w * r, channels)
        return pixels.transpose(0, 3, 1, 2)
    if w <= _SHORT or xp is not numpy:
        y = _transpose(xp, x, (r, r, channels, h, w), (2, 3, 0, 4, 1))
    else:
        blocks = x.reshape(batch, r, r, channels, h, w)
        y = numpy.empty((batch, channels, h, r, w, r), dtype=x.dtype)
        for column in range(r):
            y[..., column] = blocks[:, :, column].transpose(0, 2, 3, 1, 4)
    return y.reshape(batch, channels, h * r, w * r)


def _transpose(xp: Any, x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Transposes the axes of each sample, whose elements make an array of ``shape``."""
    if xp is numpy:
        order = _order(shape, axes)
        return x.reshape(len(x), order.size).take(order, axis=1)
    axes = (0, *[1 + axis for axis in axes])
    return xp.ascontiguousarray(x.reshape(len(x), *shape).transpose(axes))


@lru_cache(maxsize=16)
def _order(shape: tuple[int, ...], axes: tuple[int, ...]) -> numpy.ndarray:
    """Returns the numbers of a sample's elements in their new order."""
    return numpy.arange(math.prod(shape)).reshape(shape).transpose(axes).ravel()
