"""NumPy views of memory in a layout, without copying."""

from __future__ import annotations

from typing import Any

import numpy as np

from ideep4py._core import layout as L
from ideep4py._core.library import ffi

_buffer = ffi.buffer
_ndarray = np.ndarray


def dense_view(layout: L.Layout, pointer: Any) -> np.ndarray[Any, Any]:
    """The C-contiguous array at ``pointer``, which it keeps alive. The layout is dense."""
    if not layout.size:
        return np.empty(layout.shape, layout.dtype)
    return _ndarray(layout.shape, layout.dtype, _buffer(pointer, layout.nbytes))


def strided_view(layout: L.Layout, pointer: Any) -> np.ndarray[Any, Any] | None:
    """The array at ``pointer``, or None for a layout in blocks."""
    if layout.dense:
        return dense_view(layout, pointer)
    if layout.strides is None or not layout.size:
        return None
    strides = tuple(s * layout.itemsize for s in layout.strides)
    return _ndarray(layout.shape, layout.dtype, _buffer(pointer, layout.nbytes), strides=strides)


def physical_view(
    layout: L.Layout, pointer: Any
) -> tuple[np.ndarray[Any, Any], tuple[int, ...]] | None:
    """The memory as an array, with its padding (which is zero), and the logical axis of each axis.

    Outer axes come in logical order, then the blocks from the outermost to the innermost. None
    where the layout is none of plain blocks.
    """
    geometry = layout.block_geometry()
    if geometry is None:
        return None
    outer, strides, blocks = geometry
    sizes = [size for size, _ in blocks]
    inner = L.row_major_strides(tuple(sizes))
    shape = tuple(outer) + tuple(sizes)
    steps = tuple(s * layout.itemsize for s in (*strides, *inner))
    axes = tuple(range(len(outer))) + tuple(axis for _, axis in blocks)
    array = _ndarray(shape, layout.dtype, _buffer(pointer, layout.nbytes), strides=steps)
    return array, axes
