"""Blocks of pixels to channels and back, on raw arrays, and the base class of both functions.

Both functions transpose axes. On a device that is one copy. NumPy copies along the innermost axis
of an array, and where that is as short as it is here, a copy of many elements takes several times
as long as it should. We therefore copy whole rows of the low-resolution image; if those are short
as well, we gather single pixels with a precomputed index.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy

from chainer.core.typing import Array, ArrayModule, Indexes, Shape
from chainer.core.utils import type_check
from chainer.functions._scalars import require_int
from chainer.functions.rules import LinearMap, expect_kinds


class PixelShuffle(LinearMap):
    """Base of the functions that exchange blocks of pixels and channels.

    Args:
        r (int): Length of the sides of a block.
    """

    batch_inputs = (0,)

    type_check_key = ("r",)

    def __init__(self, r: int) -> None:
        self.r = require_int(r, "r")

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        (x_type,) = expect_kinds(in_types, "f")
        type_check.expect(x_type.ndim == 4)


#: Number of pixels up to which gathering single pixels is faster than copying rows.
_SHORT_ROW = 8


def space_to_depth(xp: ArrayModule, x: Array, r: int) -> Array:
    """Returns ``(B, r r C, h, w)`` for ``(B, C, h r, w r)``."""
    batch, channels, height, width = x.shape
    h, w = height // r, width // r
    if w <= _SHORT_ROW or xp is not numpy:
        y = _transpose(xp, x, (channels, h, r, w, r), (2, 4, 0, 1, 3))
    else:
        y = numpy.empty((batch, r, r, channels * h, w), dtype=x.dtype)
        pixels = x.reshape(batch, channels * h, r, w, r)
        for row in range(r):
            for column in range(r):
                y[:, row, column] = pixels[:, :, row, :, column]
    return y.reshape(batch, r * r * channels, h, w)


def depth_to_space(xp: ArrayModule, x: Array, r: int) -> Array:
    """Returns ``(B, C, h r, w r)`` for ``(B, r r C, h, w)``."""
    batch, depth, h, w = x.shape
    channels = depth // (r * r)
    if xp is numpy and w <= channels:
        # The result has the channels last in memory, which makes the innermost axis longer.
        pixels = x.reshape(batch, r, r, channels, h, w).transpose(0, 4, 1, 5, 2, 3)
        pixels = numpy.ascontiguousarray(pixels).reshape(batch, h * r, w * r, channels)
        return pixels.transpose(0, 3, 1, 2)
    if w <= _SHORT_ROW or xp is not numpy:
        y = _transpose(xp, x, (r, r, channels, h, w), (2, 3, 0, 4, 1))
    else:
        blocks = x.reshape(batch, r, r, channels, h, w)
        y = numpy.empty((batch, channels, h, r, w, r), dtype=x.dtype)
        for column in range(r):
            y[..., column] = blocks[:, :, column].transpose(0, 2, 3, 1, 4)
    return y.reshape(batch, channels, h * r, w * r)


def _transpose(xp: ArrayModule, x: Array, shape: Shape, axes: Indexes) -> Array:
    """Transposes the axes of each sample, whose elements make an array of ``shape``."""
    if xp is numpy:
        order = _order(shape, axes)
        return x.reshape(len(x), order.size).take(order, axis=1)
    axes = (0, *[1 + axis for axis in axes])
    return xp.ascontiguousarray(x.reshape(len(x), *shape).transpose(axes))


@lru_cache(maxsize=16)  # a model uses few sizes, each at every step
def _order(shape: Shape, axes: Indexes) -> numpy.ndarray:
    """Returns the indexes of a sample's elements in their new order."""
    return numpy.arange(math.prod(shape)).reshape(shape).transpose(axes).ravel()
