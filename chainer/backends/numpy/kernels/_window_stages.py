"""Sums and maxima of sliding windows, one axis at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from typing import Any, NamedTuple

import numpy

from chainer.core.arrays.windows import Sizes, window_range

# Axes along which windows have so few elements are reduced at once: each stage costs a pass.
_SMALL_WINDOW = 4
# Elements of NumPy's buffers, if arrays take at least as many bytes: smaller ones are as fast.
_BUFFER, _LARGE = 1024, 1 << 18


class Piece(NamedTuple):
    """One element of the windows along some axes.

    Attributes:
        code: Row-major position in the window, counted in all axes.
        windows: Index of the windows whose element lies inside the input.
        elements: Index of these elements in the input.
        complete: Whether it lies inside the input for each window.
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
        whole: Whether there is one window which is the input.
    """

    axes: tuple[int, ...]
    pieces: list[Piece]
    whole: bool


def stages(
    ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes
) -> Iterator[Stage]:
    """Splits a reduction of windows into stages."""
    start = 0
    for stop in range(1, len(ksize) + 1):
        if stop == len(ksize) or prod(ksize[start : stop + 1]) > _SMALL_WINDOW:
            yield _stage(range(start, stop), ksize, in_size, out_size, stride, pad)
            start = stop


def _stage(
    axes: Any, ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes
) -> Stage:
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
                if windows.stop:
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


def reduced_shape(shape: Sizes, stage: Stage, out_size: Sizes) -> Sizes:
    """Returns the shape of an array after a stage."""
    return tuple([out_size[i - 2] if i in stage.axes else n for i, n in enumerate(shape)])


@contextmanager
def _small_buffers() -> Iterator[None]:
    """Lets ufuncs of NumPy have small buffers; it makes them without need."""
    size = numpy.setbufsize(_BUFFER)  # in this context only
    try:
        yield
    finally:
        numpy.setbufsize(size)


def reduce_stage(xp: Any, name: str, x: Any, stage: Stage, out_size: Sizes, identity: float) -> Any:
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
        if name == "add":
            return x.sum(axis=stage.axes, keepdims=True)
        return x.max(axis=stage.axes, keepdims=True)
    y = xp.empty(reduced_shape(x.shape, stage, out_size), x.dtype)
    with _small_buffers() if xp is numpy and x.nbytes >= _LARGE else nullcontext():
        _reduce_pieces(getattr(xp, name), x, y, stage, identity)
    return y


def _reduce_pieces(operator: Any, x: Any, y: Any, stage: Stage, identity: float) -> None:
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


def window_sums(xp: Any, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes) -> Any:
    """Returns the sums of sliding windows."""
    for stage in stages(ksize, x.shape[2:], out_size, stride, pad):
        x = reduce_stage(xp, "add", x, stage, out_size, 0)
    return x


def spread_windows(xp: Any, y: Any, ksize: Sizes, stride: Sizes, pad: Sizes, in_size: Sizes) -> Any:
    """Adds each element of ``y`` to its whole window: the adjoint of :func:`window_sums`."""
    overlapping = any([k > s for k, s in zip(ksize, stride, strict=True)])
    for stage in reversed(list(stages(ksize, in_size, y.shape[2:], stride, pad))):
        x = xp.zeros(reduced_shape(y.shape, stage, in_size), y.dtype)
        for piece in stage.pieces:
            if overlapping:
                x[piece.elements] += y[piece.windows]
            else:
                x[piece.elements] = y[piece.windows]
        y = x
    return y
