"""Strides of images in memory, with or without blocks of channels, and copies between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ideep4py._core import layout as L
from ideep4py._core.library import ffi
from ideep4py._core.reorder import Move

_cast = ffi.cast
_BYTE_POINTER = ffi.typeof("char *")

ITEM = 4
"""Bytes of a float32."""


def at(pointer: Any, items: int) -> Any:
    """The address ``items`` float32 numbers behind ``pointer``, which the caller keeps alive."""
    return _cast(_BYTE_POINTER, pointer) + items * ITEM


def spans(total: int, size: int) -> list[tuple[int, int]]:
    """``range(total)`` in pieces of ``size``: pairs (start, length)."""
    return [(start, min(size, total - start)) for start in range(0, total, size)]


@dataclass(frozen=True, slots=True)
class Images:
    """Strides of images (N, C, H, W) in float32 numbers.

    A channel has two indices: its block, and its place within the block of ``block`` channels.
    """

    height: int
    width: int
    block: int
    image: int
    outer_channel: int
    inner_channel: int
    row: int
    column: int

    def channels(self, n: int) -> tuple[int, int]:
        """The sizes of the two indices for ``n`` channels."""
        return n // self.block, self.block

    @property
    def channel_strides(self) -> tuple[int, int]:
        """Strides of the two indices of a channel."""
        return self.outer_channel, self.inner_channel

    def offset(self, image: int, channel: int) -> int:
        """Where the plane of a channel begins; the channel is a multiple of ``block``."""
        return image * self.image + channel // self.block * self.outer_channel


def images_of(layout: L.Layout) -> Images | None:
    """The strides of images in ``layout``, or None if it has other kinds of blocks."""
    geometry = layout.block_geometry()
    if geometry is None or layout.ndim != 4:
        return None
    _, strides, blocks = geometry
    _, channels, height, width = layout.shape
    if not blocks:
        block = 8 if channels % 8 == 0 else 1
        outer, inner = strides[1] * block, strides[1]
    elif len(blocks) == 1 and blocks[0][1] == 1 and channels % blocks[0][0] == 0:
        block, outer, inner = blocks[0][0], strides[1], 1
    else:
        return None
    return Images(height, width, block, strides[0], outer, inner, strides[2], strides[3])


def dense_images(height: int, width: int, channels: int, block: int) -> Images:
    """Dense images in blocks of channels."""
    plane = height * width * block
    return Images(height, width, block, channels // block * plane, plane, 1, width * block, block)


def moved(dims: tuple[int, ...], source: tuple[int, ...], target: tuple[int, ...]) -> Move:
    """Copies an array from some strides to others."""
    return Move(L.strided(dims, source), L.strided(dims, target))


def copied(source: Images, target: Images, n: int, channels: int, height: int, width: int) -> Move:
    """Copies the upper left part of ``n`` images."""
    return moved(
        (n, *source.channels(channels), height, width),
        (source.image, *source.channel_strides, source.row, source.column),
        (target.image, *target.channel_strides, target.row, target.column),
    )
