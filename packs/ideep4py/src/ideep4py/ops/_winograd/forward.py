"""The convolution itself, and its gradient with respect to the input.

The gradient is a convolution as well, with rotated filters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ideep4py._core import layout as L
from ideep4py._core.buffers import allocate
from ideep4py._core.reorder import Move
from ideep4py._kernels.binary import Broadcast
from ideep4py._kernels.gemm import sgemm
from ideep4py._kernels.products import product
from ideep4py.ops._images import ITEM, Images, at, spans
from ideep4py.ops._winograd import matrices as M
from ideep4py.ops._winograd.choice import block_of_filters, images_at_once, tile_grid
from ideep4py.ops._winograd.tiles import Cut, Join

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


class Forward:
    """``y = convolution(x, W) + b``.

    Args:
        x: layout of the input.
        y: layout of the output.
        images: strides of the images of ``x`` and ``y``.
        before: zeros above and to the left of the input.
        bias: whether there is a bias.
        relu: apply ReLU to the output.
        turned: the filters are of shape (C, O, 3, 3) and are rotated by 180 degrees, for the
            gradient with respect to the input.

    Attributes:
        x, w, y: the layouts that ``run`` takes pointers to.
    """

    def __init__(
        self,
        x: L.Layout,
        y: L.Layout,
        images: tuple[Images, Images],
        before: tuple[int, ...],
        *,
        bias: bool = False,
        relu: bool = False,
        turned: bool = False,
    ) -> None:
        n, ins = x.shape[:2]
        outs = y.shape[1]
        self.x, self.y = x, y
        self.channels = outs
        self.w = L.dense((ins, outs, M.KERNEL, M.KERNEL) if turned else (outs, ins, 3, 3))
        self._ins = ins
        self._in, self._out = images
        self._bias = bias
        self._matrix = M.FILTER_TURNED if turned else M.FILTER
        self._swap = _swapped(outs, ins) if turned else None
        self._swap_bytes = self.w.nbytes if turned else 0
        grid = tile_grid(y.shape[2:])
        self._tiles = grid[0] * grid[1]
        self._batches = spans(n, images_at_once(n, self._tiles * max(ins, outs)))
        self._blocks = spans(outs, block_of_filters(outs, ins))
        # All portions have one size, except perhaps the last: at most two plans are compiled for
        # each.
        counts = {count for _, count in self._batches}
        sizes = {size for _, size in self._blocks}
        self._cuts = {k: Cut(self._in, k, ins, before, grid, M.TILE) for k in counts}
        self._steps = {
            (k, size): _Block(
                k * self._tiles, ins, size, bias, relu, Join(self._out, k, size, grid)
            )
            for k in counts
            for size in sizes
        }

    def run(self, x: AnyArray, w: AnyArray, y: AnyArray, b: AnyArray = None) -> None:
        """Computes ``y`` from pointers to data in the layouts of the attributes."""
        ins = self._ins
        if self._swap is not None:
            swapped = allocate(self._swap_bytes)
            self._swap.run(w, swapped)
            w = swapped
        filters: list[Any] = []
        for start, count in self._batches:
            cut = self._cuts[count]
            tiles = allocate(cut.size * ITEM)
            cut.run(at(x, self._in.offset(start, 0)), tiles)
            # INPUT is square: there are as many points as elements of tiles.
            points = allocate(cut.size * ITEM)
            columns = cut.size // M.POINTS
            sgemm(M.INPUT, tiles, points, M.POINTS, columns, M.POINTS)
            # The memory goes back to the pool, where the products find it.
            del tiles
            for i, (first, size) in enumerate(self._blocks):
                if i == len(filters):
                    filters.append(self._filters(at(w, first * ins * 9), size * ins))
                self._steps[count, size].run(
                    points,
                    filters[i],
                    at(b, first) if self._bias else None,
                    at(y, self._out.offset(start, first)),
                )
                if len(self._batches) == 1:
                    filters[i] = None  # not needed again: the next block takes its memory

    def _filters(self, w: AnyArray, pairs: int) -> Any:
        points = allocate(M.POINTS * pairs * ITEM)
        sgemm(self._matrix, w, points, M.POINTS, pairs, 9, trans_b=True)
        return points


class _Block:
    """Outputs of one block of filters for one batch of images."""

    __slots__ = ("_add", "_constant", "_join", "_multiply", "_outputs", "_sizes")

    def __init__(self, tiles: int, ins: int, outs: int, bias: bool, relu: bool, join: Join) -> None:
        matrix = tiles * outs
        self._join = join
        self._sizes = M.POINTS * matrix * ITEM, M.OUT * M.OUT * matrix * ITEM
        self._multiply = product(
            L.dense((M.POINTS, tiles, ins)),
            L.strided((M.POINTS, ins, outs), (ins * outs, 1, ins)),
            L.dense((M.POINTS, tiles, outs)),
        ).run
        # The bias is added at one point of 36, before the transformation spreads it to all 16
        # outputs.
        self._constant = M.CONSTANT_POINT * matrix
        self._add = (
            Broadcast(L.dense((tiles, outs)), L.dense((1, outs)), "add").run if bias else None
        )
        self._outputs = _outputs(matrix, relu)

    def run(self, points: AnyArray, filters: AnyArray, b: AnyArray, y: AnyArray) -> None:
        products = allocate(self._sizes[0])
        self._multiply(points, filters, products)
        if self._add is not None:
            constant = at(products, self._constant)
            self._add(constant, b, constant)
        outputs = allocate(self._sizes[1])
        self._outputs(products, outputs)
        self._join.run(outputs, y)


def _outputs(columns: int, relu: bool) -> Callable[[Any, Any], None]:
    size = M.OUT * M.OUT
    # Only the primitive can fuse ReLU; for the product alone dnnl_sgemm needs no plan.
    if not relu:
        return lambda points, out: sgemm(M.OUTPUT, points, out, size, columns, M.POINTS)
    run = product(
        L.dense((size, M.POINTS)),
        L.dense((M.POINTS, columns)),
        L.dense((size, columns)),
        (("eltwise", "relu", 0.0, 0.0),),
    ).run
    return lambda points, out: run(M.OUTPUT, points, out)


def _swapped(outs: int, ins: int) -> Move:
    """Filters (ins, outs, 9) to (outs, ins, 9)."""
    return Move(L.strided((outs, ins, 9), (9, outs * 9, 1)), L.dense((outs, ins, 9)))
