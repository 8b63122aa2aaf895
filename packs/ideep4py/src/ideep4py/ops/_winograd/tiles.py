"""Cuts images into tiles, and puts images together from tiles.

Tiles are a dense array (row in the tile, column in the tile, image, tile row, tile column,
channel): each position within a tile is a matrix (tiles, channels) for the matrix products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ideep4py._core.buffers import allocate
from ideep4py._core.library import lib
from ideep4py._core.reorder import Move
from ideep4py.ops._images import ITEM, Images, at, copied, dense_images, moved, spans
from ideep4py.ops._winograd.matrices import OUT

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def _as_tiles(images: Images, rows: int, columns: int) -> tuple[int, ...]:
    """Strides of images as an array (row in the tile, column in the tile, image, tile row, tile
    column, two indices of the channel).
    """
    return (
        images.row,
        images.column,
        images.image,
        OUT * images.row,
        OUT * images.column,
        *images.channel_strides,
    )


class Cut:
    """Cuts ``n`` images into ``rows x columns`` tiles that begin ``OUT`` apart.

    Args:
        images: strides of the images.
        n: number of images.
        channels: number of channels.
        before: zeros above and to the left of each image.
        grid: number of tile rows and columns.
        tile: rows (and columns) of a tile, at least OUT and at most twice that.
    """

    def __init__(
        self,
        images: Images,
        n: int,
        channels: int,
        before: tuple[int, ...],
        grid: tuple[int, int],
        tile: int,
    ) -> None:
        rows, columns = grid
        # Tiles begin OUT apart and are larger than that: the last one ends beyond the last output.
        height, width = (OUT * k + tile - OUT for k in grid)
        self._pad: Move | None = None
        if any(before) or (images.height, images.width) != (height, width):
            padded = dense_images(height, width, channels, images.block)
            self._padded_bytes = n * padded.image * ITEM
            self._inset = before[0] * padded.row + before[1] * padded.column
            used = min(images.height, height - before[0]), min(images.width, width - before[1])
            self._pad = copied(images, padded, n, channels, *used)
            images = padded
        split = images.channels(channels)
        matrix = n * rows * columns * channels
        self.size = tile * tile * matrix
        """Number of elements of all tiles."""
        self._pieces: list[tuple[Move, int, int]] = []
        target = (
            tile * matrix,
            matrix,
            rows * columns * channels,
            columns * channels,
            channels,
            images.block,
            1,
        )
        # Neighboring tiles share rows, and oneDNN refuses strides that make elements overlap.
        # Pieces of at most OUT rows and columns do not overlap.
        for i, height in spans(tile, OUT):
            for j, width in spans(tile, OUT):
                copy = moved(
                    (height, width, n, rows, columns, *split),
                    _as_tiles(images, rows, columns),
                    target,
                )
                place = i * images.row + j * images.column
                self._pieces.append((copy, place, (i * tile + j) * matrix))

    def run(self, source: AnyArray, target: AnyArray) -> None:
        """Cuts the images at ``source`` into tiles at ``target``."""
        if self._pad is not None:
            padded = allocate(self._padded_bytes)
            # The buffer is reused memory with old numbers, and the copy leaves the border as it is.
            lib.memset(padded, 0, self._padded_bytes)
            self._pad.run(source, at(padded, self._inset))
            source = padded
        for copy, place, to in self._pieces:
            copy.run(at(source, place), at(target, to))


class Join:
    """Joins ``rows x columns`` tiles of ``OUT x OUT`` to ``n`` images, without what is beyond them.

    Args:
        images: strides of the images.
        n: number of images.
        channels: number of channels, a multiple of the images' block.
        grid: number of tile rows and columns.
    """

    def __init__(self, images: Images, n: int, channels: int, grid: tuple[int, int]) -> None:
        rows, columns = grid
        height, width = OUT * rows, OUT * columns
        self._crop: Move | None = None
        split = images.channels(channels)
        if (images.height, images.width) != (height, width):
            whole = dense_images(height, width, channels, images.block)
            self._whole_bytes = n * whole.image * ITEM
            self._crop = copied(whole, images, n, channels, images.height, images.width)
            images = whole
        matrix = n * rows * columns * channels
        source = (
            OUT * matrix,
            matrix,
            rows * columns * channels,
            columns * channels,
            channels,
            images.block,
            1,
        )
        dims = (OUT, OUT, n, rows, columns, *split)
        self._copy = moved(dims, source, _as_tiles(images, rows, columns))

    def run(self, source: AnyArray, target: AnyArray) -> None:
        """Puts images at ``target`` together from tiles at ``source``."""
        if self._crop is None:
            self._copy.run(source, target)
            return
        whole = allocate(self._whole_bytes)
        self._copy.run(source, whole)
        self._crop.run(whole, target)
