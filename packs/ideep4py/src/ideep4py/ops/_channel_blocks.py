"""Copies ranges of channels between arrays whose channels are in blocks.

oneDNN joins arrays in blocks only where each begins at a block of the result, and takes them apart
only between blocks. With blocks of 16 channels (AVX-512) many networks do otherwise, and oneDNN
falls back on row-major results, which the next convolution has to bring into blocks again. Here
channels are copied in groups that divide the blocks on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core.library import lib
from ideep4py._core.reorder import Move
from ideep4py.ops._images import ITEM, at

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray

# Measured with AVX-512: a group of 4 to 16 channels takes about as long to copy as six channels to
# and from row-major order. In the cache both cost next to nothing, and calls cost more.
_CHANNELS_PER_GROUP = 6
_LARGE = 1 << 18


class Channels:
    """Where each channel of an array (N, C, ...) of float32 numbers is.

    Attributes:
        block: number of channels in a block, 0 where there are no blocks.
        spatial: strides of the axes behind the channels, in elements.
    """

    __slots__ = ("_block_stride", "_inner_stride", "block", "image", "spatial")

    def __init__(self, strides: Sequence[int], block: int) -> None:
        self.image, self._block_stride, *rest = strides
        self._inner_stride = 1 if block else self._block_stride
        self.block = block
        self.spatial = tuple(rest)

    def offset(self, channel: int) -> int:
        """The position of a channel's first element, in elements."""
        if not self.block:
            return channel * self._inner_stride
        return channel // self.block * self._block_stride + channel % self.block

    def strides(self, step: int) -> tuple[int, ...]:
        """Strides of an array (N, channels divided by ``step``, ..., channels modulo ``step``)."""
        return (self.image, self.offset(step), *self.spatial, self._inner_stride)


def channels_of(layout: L.Layout) -> Channels | None:
    """Where the channels of a layout are, or None where this module cannot copy them."""
    geometry = layout.block_geometry()
    if geometry is None or layout.data_type != C.F32 or not 3 <= layout.ndim <= 5:
        return None
    _, strides, blocks = geometry
    if not blocks:
        return Channels(strides, 0)
    if len(blocks) == 1 and blocks[0][1] == 1:
        return Channels(strides, blocks[0][0])
    return None


def block_of(layout: L.Layout) -> int:
    """Number of channels in a block of an array (N, C, ...); 0 where there are no such blocks."""
    channels = channels_of(layout)
    return channels.block if channels is not None else 0


class CopyChannels:
    """Copies channels ``start`` to ``start + count`` of one array to some channels of another.

    Args:
        source: layout of the one array.
        target: layout of the other.
        start: first channel in the source.
        to: first channel in the target.
        count: number of channels.
    """

    __slots__ = ("_moves",)

    def __init__(self, source: L.Layout, target: L.Layout, start: int, to: int, count: int) -> None:
        a, b = channels_of(source), channels_of(target)
        assert a is not None
        assert b is not None
        group = math.gcd(start, to, a.block, b.block) or count
        whole = count // group
        # Every ``period`` groups the position within the blocks is the same on both sides: such
        # groups are copied at once.
        period = max(a.block, b.block, group) // group
        step = period * group
        pieces = []
        for first in range(min(period, whole)):
            repeats = -(-(whole - first) // period)
            if all(repeats * side.offset(step) <= side.image for side in (a, b)):
                pieces.append((first * group, repeats, group))
            else:  # oneDNN refuses strides where the last step would reach beyond the image
                pieces += [(i * group, 1, group) for i in range(first, whole, period)]
        if count % group:
            pieces.append((whole * group, 1, count % group))
        size = source.shape[2:]
        self._moves = []
        for first, repeats, width in pieces:
            dims = (source.shape[0], repeats, *size, width)
            move = Move(L.strided(dims, a.strides(step)), L.strided(dims, b.strides(step)))
            self._moves.append((move.run, a.offset(start + first), b.offset(to + first)))

    def run(self, source: AnyArray, target: AnyArray) -> None:
        """Copies from the array at ``source`` to the array at ``target``."""
        for run, offset, to in self._moves:
            run(at(source, offset), at(target, to))


def pays(shape: tuple[int, ...], edges: Sequence[int], block: int) -> bool:
    """Whether to copy groups of channels rather than to go through row-major arrays.

    Args:
        shape: of the whole array (N, C, ...).
        edges: where its parts begin and end along the channels: ``0, ..., C``.
        block: number of channels in a block.
    """
    groups = sum(-(-(b - a) // math.gcd(a, block)) for a, b in pairwise(edges))
    return math.prod(shape) >= _LARGE and groups * _CHANNELS_PER_GROUP <= shape[1]


class Padding:
    """The channels that fill the last block up: primitives expect zeros there.

    Args:
        layout: of an array made by :func:`in_blocks`.
    """

    __slots__ = ("_bytes", "_offsets")

    def __init__(self, layout: L.Layout) -> None:
        channels = channels_of(layout)
        assert channels is not None
        n, count, *size = layout.shape
        self._bytes = channels.block * math.prod(size) * ITEM
        last = channels.offset(count // channels.block * channels.block)
        self._offsets = (
            [i * channels.image + last for i in range(n)] if count % channels.block else []
        )

    def clear(self, target: AnyArray) -> None:
        """Sets the last block of channels of each image to zero, if it is not full."""
        for offset in self._offsets:
            lib.memset(at(target, offset), 0, self._bytes)


def in_blocks(shape: tuple[int, ...], block: int) -> L.Layout:
    """The layout of a float32 array (N, C, ...) in blocks of 4, 8, 16 or 32 channels."""
    return L.tagged(shape, C.TAG_CHANNEL_BLOCKS[len(shape)][block])
