"""Joins arrays along an axis and takes them apart, keeping blocks where the sizes allow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.errors import OneDNNError
from ideep4py._core.library import ffi, lib
from ideep4py._core.primitive import Primitive, attributes, chosen, describe
from ideep4py._core.reorder import densified, part
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._channel_blocks import (
    CopyChannels,
    Padding,
    block_of,
    channels_of,
    in_blocks,
    pays,
)
from ideep4py.ops._inputs import Array, axis_index, data_of

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


class _Concat:
    """oneDNN's concatenation."""

    __slots__ = ("_run", "out")

    def __init__(self, axis: int, shape: tuple[int, ...], layouts: Sequence[L.Layout]) -> None:
        pd = describe(
            lib.dnnl_concat_primitive_desc_create,
            f"concatenation of {[a.shape for a in layouts]}",
            L.any_md(shape, layouts[0].data_type),
            len(layouts),
            axis,
            ffi.new("md_t[]", [a.md for a in layouts]),
            attributes(),
        )
        self.out = chosen(pd, C.QUERY_DST)
        arguments = [(C.MULTIPLE_SRC + i, a) for i, a in enumerate(layouts)]
        self._run = Primitive(pd, [*arguments, (C.DST, self.out)]).run

    def run(self, pointers: Sequence[Any], out: Any) -> None:
        self._run(*pointers, out)


class _ConcatBlocks:
    """Concatenation along the channels into blocks that do not end where the arrays do."""

    __slots__ = ("_copies", "_padding", "out")

    def __init__(self, out: L.Layout, layouts: Sequence[L.Layout], edges: Sequence[int]) -> None:
        self.out = out
        self._padding = Padding(out)
        self._copies = [
            CopyChannels(layout, out, 0, to, layout.shape[1]).run
            for layout, to in zip(layouts, edges[:-1], strict=True)
        ]

    def run(self, pointers: Sequence[Any], out: Any) -> None:
        # Elementwise functions read the padding, too, so it must be zeros.
        self._padding.clear(out)
        for copy, pointer in zip(self._copies, pointers, strict=True):
            copy(pointer, out)


def _plan_concat(axis: int, *layouts: L.Layout) -> _Concat | _ConcatBlocks:
    first = layouts[0].shape
    axis = axis_index(axis, len(first))
    for i, layout in enumerate(layouts):
        shape = layout.shape
        if (
            len(shape) != len(first)
            or shape[:axis] != first[:axis]
            or (shape[axis + 1 :] != first[axis + 1 :])
        ):
            raise ValueError(
                f"xs[{i}] has shape {shape}, which differs from {first} not only along axis {axis}"
            )
    # Where each array begins in the result, and where the last one ends.
    edges = [0, *accumulate([layout.shape[axis] for layout in layouts])]
    joined = (*first[:axis], edges[-1], *first[axis + 1 :])
    plan = _Concat(axis, joined, layouts)
    # oneDNN falls back to a dense result where blocks of channels do not fit. The convolution after
    # it would have to make blocks of it again.
    if axis == 1 and plan.out.dense and all(map(channels_of, layouts)):
        block = max(map(block_of, layouts))
        if block and pays(joined, edges, block):
            return _ConcatBlocks(in_blocks(joined, block), layouts, edges)
    return plan


def concat(xs: Sequence[Array], axis: int = 1) -> mdarray:
    """Joins arrays along an existing axis.

    Args:
        xs: one or more arrays whose shapes differ along ``axis`` only.
        axis: the axis.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data = [data_of(x, f"xs[{i}]") for i, x in enumerate(xs)]
    if not data:
        raise ValueError("xs must hold at least one array")
    found = runtime.plan(_plan_concat, axis, *[layout for layout, _ in data])
    out = allocate(found.out.nbytes)
    found.run([pointer for _, pointer in data], out)
    return wrap(found.out, out)


class _Slice:
    """Copies a range along one axis.

    The part's layout is the one concatenation would choose for it.
    """

    __slots__ = ("out", "run")

    def __init__(self, x: L.Layout, axis: int, start: int, stop: int) -> None:
        dims = list(x.shape)
        dims[axis] = stop - start
        offsets = [0] * x.ndim
        offsets[axis] = start
        # A view: oneDNN has no primitive for slices, but a concatenation of one array copies it.
        slice_ = part(x, tuple(dims), tuple(offsets))
        pd = describe(
            lib.dnnl_concat_primitive_desc_create,
            f"copy of {slice_!r}",
            L.any_md(tuple(dims), x.data_type),
            1,
            axis,
            ffi.new("md_t[]", [slice_.md]),
            attributes(),
        )
        self.out = chosen(pd, C.QUERY_DST)
        self.run = Primitive(pd, [(C.MULTIPLE_SRC, slice_), (C.DST, self.out)]).run


class _SliceBlocks:
    """Copies a range of channels that does not begin and end between blocks."""

    __slots__ = ("_copy", "_padding", "out")

    def __init__(self, x: L.Layout, block: int, start: int, stop: int) -> None:
        self.out = in_blocks((x.shape[0], stop - start, *x.shape[2:]), block)
        self._padding = Padding(self.out)
        self._copy = CopyChannels(x, self.out, start, 0, stop - start).run

    def run(self, x: AnyArray, out: Any) -> None:
        self._padding.clear(out)
        self._copy(x, out)


class _Split:
    """The slices; ``dense`` where the array is laid out densely first."""

    __slots__ = ("dense", "slices")

    def __init__(self, x: L.Layout, axis: int, bounds: tuple[int, ...]) -> None:
        axis = axis_index(axis, x.ndim)
        size = x.shape[axis]
        edges = (0, *bounds, size)
        if any(a >= b for a, b in pairwise(edges)):
            raise ValueError(
                f"indices must rise within 1..{size - 1} (the length of axis {axis} is {size}), "
                f"got {list(bounds)}"
            )
        self.dense = False
        self.slices: Sequence[_Slice | _SliceBlocks]
        try:
            self.slices = self._make(x, axis, edges)
        except OneDNNError:  # a slice begins or ends within a block
            if x.dense:
                raise
            block = block_of(x) if axis == 1 else 0
            if block and pays(x.shape, edges, block):
                self.slices = [_SliceBlocks(x, block, a, b) for a, b in pairwise(edges)]
            else:
                self.dense = True
                self.slices = self._make(L.dense(x.shape, x.data_type), axis, edges)

    @staticmethod
    def _make(x: L.Layout, axis: int, edges: tuple[int, ...]) -> list[_Slice]:
        return [_Slice(x, axis, a, b) for a, b in pairwise(edges)]


def split(x: Array, indices: Sequence[int], axis: int = 1) -> tuple[mdarray, ...]:
    """Cuts an array along an axis into copies.

    Args:
        x: the array.
        indices: where to cut: rising positions along ``axis``.
        axis: the axis.

    Returns:
        ``len(indices) + 1`` arrays.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    data: Any = data_of(x, "x")
    found = runtime.plan(_Split, data[0], axis, tuple(int(i) for i in indices))
    if found.dense:
        data = densified(data)
    parts = []
    for piece in found.slices:
        out = allocate(piece.out.nbytes)
        piece.run(data[1], out)
        parts.append(wrap(piece.out, out))
    return tuple(parts)
