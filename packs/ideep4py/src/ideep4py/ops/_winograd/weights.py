"""The gradient with respect to filters and bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._core import layout as L
from ideep4py._core.buffers import allocate
from ideep4py._core.library import ffi
from ideep4py._core.primitive import Primitive
from ideep4py._core.reorder import Move
from ideep4py._kernels.gemm import sgemm
from ideep4py._kernels.products import product
from ideep4py.ops._images import ITEM, Images, at, spans
from ideep4py.ops._winograd import matrices as M
from ideep4py.ops._winograd.choice import block_of_filters, images_at_once, tile_grid
from ideep4py.ops._winograd.tiles import Cut

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


class Weights:
    """Gradients of a convolution with respect to its filters and, on request, its bias.

    Args:
        x: layout of the input.
        gy: layout of the gradient of the output.
        images: strides of the images of ``x`` and ``gy``.
        before: zeros above and to the left of the input.
        bias: compute the gradient with respect to the bias as well.

    Attributes:
        x, gy, gw, gb: the layouts that ``run`` takes pointers to.
    """

    def __init__(
        self,
        x: L.Layout,
        gy: L.Layout,
        images: tuple[Images, Images],
        before: tuple[int, ...],
        *,
        bias: bool = False,
    ) -> None:
        n, ins = x.shape[:2]
        outs = gy.shape[1]
        self.x, self.gy = x, gy
        self.gw = L.dense((outs, ins, M.KERNEL, M.KERNEL))
        self.gb = L.dense((outs,))
        self._ins, self._outs = ins, outs
        self._in, self._out = images
        self._bias = bias
        grid = tile_grid(gy.shape[2:])
        self._tiles = grid[0] * grid[1]
        self._batches = spans(n, images_at_once(n, self._tiles * max(ins, outs)))
        self._blocks = spans(outs, block_of_filters(outs, ins))
        # All portions have one size, except perhaps the last: at most two plans are compiled for
        # each.
        counts = {count for _, count in self._batches}
        sizes = {size for _, size in self._blocks}
        self._cuts = {
            k: (
                Cut(self._in, k, ins, before, grid, M.TILE),
                Cut(self._out, k, outs, (0, 0), grid, M.OUT),
            )
            for k in counts
        }
        self._products = {
            (k, size, more): self._product(k * self._tiles, size, more)
            for k in counts
            for size in sizes
            for more in {False, len(self._batches) > 1}
        }
        self._turn = {size: _tapwise(size * ins) for size in sizes}
        # A row of ones times a matrix is the sum of its rows: the gradient of the bias is a
        # product.
        self._ones = ffi.from_buffer(np.ones(max(counts) * self._tiles, np.float32))

    def _product(self, tiles: int, size: int, more: bool) -> Primitive:
        """Sums over tiles; with ``more`` adds the sums to the memory of the result."""
        return product(
            # The transposed matrices, by strides: no copy is made.
            L.strided((M.POINTS, size, tiles), (tiles * self._outs, 1, self._outs)),
            L.dense((M.POINTS, tiles, self._ins)),
            L.dense((M.POINTS, size, self._ins)),
            (("sum", 1.0),) if more else (),
        )

    def run(self, x: AnyArray, gy: AnyArray, gw: AnyArray, gb: AnyArray = None) -> None:
        """Computes ``gw`` and ``gb`` from pointers to data in the layouts of the attributes."""
        ins = self._ins
        filters: list[Any] = []
        for start, count in self._batches:
            points, gradients = self._points(x, gy, start, count)
            if self._bias:
                self._add_bias(gradients, count, gb, more=start > 0)
            for i, (first, size) in enumerate(self._blocks):
                if i == len(filters):
                    filters.append(allocate(M.POINTS * size * ins * ITEM))
                multiply = self._products[count, size, start > 0]
                multiply.run(at(gradients, first), points, filters[i])
                # The sums are complete after the last images. The transformation to 3x3 is linear:
                # once is enough.
                if start + count == self.x.shape[0]:
                    self._finish(filters[i], size, at(gw, first * ins * 9))
                    # The memory goes back to the pool, where the next block finds it.
                    filters[i] = None

    def _points(self, x: AnyArray, gy: AnyArray, start: int, count: int) -> tuple[Any, Any]:
        results = []
        sides = (
            (x, self._in, M.INPUT, M.POINTS),
            (gy, self._out, M.OUTPUT_GRADIENT, M.OUT * M.OUT),
        )
        for cut, (source, images, matrix, positions) in zip(self._cuts[count], sides, strict=True):
            tiles = allocate(cut.size * ITEM)
            cut.run(at(source, images.offset(start, 0)), tiles)
            columns = cut.size // positions
            points = allocate(M.POINTS * columns * ITEM)
            sgemm(matrix, tiles, points, M.POINTS, columns, positions)
            results.append(points)
        return results[0], results[1]

    def _add_bias(self, gradients: AnyArray, count: int, gb: AnyArray, more: bool) -> None:
        """The gradient at the point (1, 1) is the sum over the tile."""
        tiles = count * self._tiles
        sums = at(gradients, M.CONSTANT_POINT * tiles * self._outs)
        sgemm(self._ones, sums, gb, 1, self._outs, tiles, beta=1.0 if more else 0.0)

    def _finish(self, points: AnyArray, size: int, gw: AnyArray) -> None:
        pairs = size * self._ins
        taps = allocate(9 * pairs * ITEM)
        sgemm(M.FILTER_GRADIENT, points, taps, 9, pairs, M.POINTS)
        self._turn[size].run(taps, gw)


def _tapwise(pairs: int) -> Move:
    """(9, pairs) to (pairs, 9)."""
    return Move(L.strided((pairs, 9), (1, pairs)), L.dense((pairs, 9)))
