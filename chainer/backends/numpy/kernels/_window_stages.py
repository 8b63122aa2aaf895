"""Sums and maxima of sliding windows, reduced one axis after the other.

A window of ``k * k`` elements costs ``2 k`` passes over an array instead of ``k * k``. A pass
combines slices of the array, so that any array namespace can do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from typing import NamedTuple

import numpy

from chainer.backends.operations.poolings import PoolingGeometry
from chainer.core.arrays.windows import window_range
from chainer.core.typing import Array, ArrayModule, Shape

# Axes whose windows have at most this many elements are reduced in one stage: each stage costs a
# pass that reads and writes the whole array.
_SMALL_WINDOW = 4
# NumPy's ufuncs allocate buffers even where they need none. For arrays of at least _LARGE_BYTES,
# buffers of this many elements take less time to allocate. Small arrays do not gain anything.
_BUFFER_ELEMENTS, _LARGE_BYTES = 1024, 1 << 18


class Piece(NamedTuple):
    """One element of the windows along some axes.

    Attributes:
        code: Row-major position in the window, counted in all axes.
        windows: Index of the windows whose element is inside the input.
        elements: Index of these elements in the input.
        complete: Whether the element is inside the input for each window.
    """

    code: int
    windows: tuple[slice, ...]
    elements: tuple[slice, ...]
    complete: bool


class Stage(NamedTuple):
    """Reduction of the windows along some spatial axes.

    Attributes:
        axes: The axes, as array axes.
        pieces: The elements of a window, in row-major order.
        whole: Whether there is one window, which is the input.
    """

    axes: tuple[int, ...]
    pieces: list[Piece]
    whole: bool


def stages(geometry: PoolingGeometry, in_size: Shape, out_size: Shape) -> Iterator[Stage]:
    """Splits a reduction of windows into stages.

    Args:
        geometry: Geometry of the windows.
        in_size: Spatial size of the image.
        out_size: Number of windows in each dimension.
    """
    ksize = geometry.ksize
    start = 0
    for stop in range(1, len(ksize) + 1):
        if stop == len(ksize) or prod(ksize[start : stop + 1]) > _SMALL_WINDOW:
            yield _stage(range(start, stop), geometry, in_size, out_size)
            start = stop


def _stage(axes: range, geometry: PoolingGeometry, in_size: Shape, out_size: Shape) -> Stage:
    ksize, stride, pad = geometry
    everything = (slice(None),) * (2 + len(ksize))
    pieces = [Piece(0, everything, everything, True)]
    whole = True
    for axis in axes:
        k, n, m, s, p = ksize[axis], in_size[axis], out_size[axis], stride[axis], pad[axis]
        whole = whole and m == 1 and p == 0 and k == n
        step = prod(ksize[axis + 1 :])
        extended: list[Piece] = []
        for piece in pieces:
            for i in range(k):
                windows, elements = window_range(i, n, m, s, p)
                if windows.stop:  # else the element is in the padding of every window
                    extended.append(
                        Piece(
                            piece.code + i * step,
                            _replaced(piece.windows, axis + 2, windows),
                            _replaced(piece.elements, axis + 2, elements),
                            piece.complete and windows == slice(0, m),
                        )
                    )
        pieces = extended
    return Stage(tuple(axis + 2 for axis in axes), pieces, whole)


def _replaced(index: tuple[slice, ...], axis: int, piece: slice) -> tuple[slice, ...]:
    return (*index[:axis], piece, *index[axis + 1 :])


def reduced_shape(shape: Shape, stage: Stage, out_size: Shape) -> Shape:
    """Returns the shape of an array after a stage."""
    return tuple([out_size[i - 2] if i in stage.axes else n for i, n in enumerate(shape)])


@contextmanager
def _small_buffers() -> Iterator[None]:
    """Gives NumPy's ufuncs small buffers, in this context only."""
    size = numpy.setbufsize(_BUFFER_ELEMENTS)
    try:
        yield
    finally:
        numpy.setbufsize(size)


def reduce_stage(
    xp: ArrayModule, name: str, x: Array, stage: Stage, out_size: Shape, identity: float
) -> Array:
    """Reduces the windows of one stage.

    Args:
        xp: Array namespace.
        name: ``'maximum'`` or ``'add'``.
        x: Array.
        stage: Stage.
        out_size: Number of windows in each dimension.
        identity: Value of an empty window.

    Returns:
        New array.
    """
    if stage.whole and x.size:
        # One window over the whole input is an ordinary reduction, which NumPy does in one pass.
        if name == "add":
            return x.sum(axis=stage.axes, keepdims=True)
        return x.max(axis=stage.axes, keepdims=True)
    y = xp.empty(reduced_shape(x.shape, stage, out_size), x.dtype)
    with _small_buffers() if xp is numpy and x.nbytes >= _LARGE_BYTES else nullcontext():
        _reduce_pieces(getattr(xp, name), x, y, stage, identity)
    return y


def _reduce_pieces(
    operator: Callable[..., Array], x: Array, y: Array, stage: Stage, identity: float
) -> None:
    # Complete pieces come first: two of them fill all of y in one pass, without an initial value.
    pieces = sorted(stage.pieces, key=lambda piece: not piece.complete)
    if len(pieces) > 1 and pieces[1].complete:
        operator(x[pieces[0].elements], x[pieces[1].elements], out=y)
        rest = pieces[2:]
    elif pieces and pieces[0].complete:
        y[...] = x[pieces[0].elements]
        rest = pieces[1:]
    else:
        y[...] = identity
        rest = pieces
    for piece in rest:
        part = y[piece.windows]
        operator(part, x[piece.elements], out=part)


def window_sums(xp: ArrayModule, x: Array, geometry: PoolingGeometry, out_size: Shape) -> Array:
    """Returns the sums of sliding windows."""
    for stage in stages(geometry, x.shape[2:], out_size):
        x = reduce_stage(xp, "add", x, stage, out_size, 0)
    return x


def spread_windows(xp: ArrayModule, y: Array, geometry: PoolingGeometry, in_size: Shape) -> Array:
    """Adds each element of ``y`` to its whole window: the adjoint of :func:`window_sums`."""
    overlapping = any([k > s for k, s in zip(geometry.ksize, geometry.stride, strict=True)])
    for stage in reversed(list(stages(geometry, in_size, y.shape[2:]))):
        x = xp.zeros(reduced_shape(y.shape, stage, in_size), y.dtype)
        for piece in stage.pieces:
            if overlapping:
                x[piece.elements] += y[piece.windows]
            else:
                # Each element has one window at most: storing is faster than adding to zero.
                x[piece.elements] = y[piece.windows]
        y = x
    return y
