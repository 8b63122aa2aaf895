"""Blocks of pixels to channels and back, on raw arrays.

NumPy copies along the innermost axis of an array, which is short here. So whole rows of pixels are
copied where they can, and single pixels by their numbers where the rows are short, too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy

from chainer.core.utils.blocks import blocks

#: Rows up to this length are short.
_SHORT = 8


def space_to_depth(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, r r C, h, w)`` for ``(B, C, h r, w r)``."""
    batch, channels, height, width = x.shape
    h, w = height // r, width // r
    if w <= _SHORT:
        y = _take(xp, x, (channels, h, r, w, r), (2, 4, 0, 1, 3))
    else:
        # Each sample is copied twice, first whole rows, then every r-th pixel: some at a time, if
        # there is memory that need not be allocated anew.
        y = xp.empty((batch, r, r, channels * h * w), dtype=x.dtype)
        rows = x.reshape(batch, channels * h, r, w * r).swapaxes(1, 2)
        buffer: Any = None
        size = channels * height * width * x.dtype.itemsize
        for block in blocks(batch, size, 1 << 17) if xp is numpy else (slice(0, batch),):
            if buffer is None:
                buffer = xp.empty((block.stop, *rows.shape[1:]), dtype=x.dtype)
                pixels = buffer.reshape(block.stop, r, channels * h * w, r)
            count = block.stop - block.start
            buffer[:count] = rows[block]
            for column in range(r):
                y[block, :, column] = pixels[:count, ..., column]
    return y.reshape(batch, r * r * channels, h, w)


def depth_to_space(xp: Any, x: Any, r: int) -> Any:
    """Returns ``(B, C, h r, w r)`` for ``(B, r r C, h, w)``."""
    batch, depth, h, w = x.shape
    channels = depth // (r * r)
    if w <= channels:
        # Channels last in memory: longer rows.
        pixels = x.reshape(batch, r, r, channels, h, w).transpose(0, 4, 1, 5, 2, 3)
        pixels = xp.ascontiguousarray(pixels).reshape(batch, h * r, w * r, channels)
        return pixels.transpose(0, 3, 1, 2)
    if w <= _SHORT:
        y = _take(xp, x, (r, r, channels, h, w), (2, 3, 0, 4, 1))
    else:
        blocks = x.reshape(batch, r, r, channels, h, w)
        y = xp.empty((batch, channels, h, r, w, r), dtype=x.dtype)
        for column in range(r):
            y[..., column] = blocks[:, :, column].transpose(0, 2, 3, 1, 4)
    return y.reshape(batch, channels, h * r, w * r)


def _take(xp: Any, x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Transposes the axes of each sample, whose elements make an array of ``shape``."""
    order = _host_order(shape, axes) if xp is numpy else _order(xp, shape, axes)
    return x.reshape(len(x), order.size).take(order, axis=1)


def _order(xp: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Returns the numbers of a sample's elements in their new order."""
    return xp.arange(math.prod(shape)).reshape(shape).transpose(axes).ravel()


@lru_cache(maxsize=16)
def _host_order(shape: tuple[int, ...], axes: tuple[int, ...]) -> numpy.ndarray:
    return _order(numpy, shape, axes)
