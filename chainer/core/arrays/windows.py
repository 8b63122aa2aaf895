"""Sliding windows over images: their positions, and copying and adding patches."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any

from chainer.core.typing import Array

Sizes = tuple[int, ...]


def window_range(
    offset: int, in_size: int, out_size: int, stride: int, pad: int
) -> tuple[slice, slice]:
    """Returns the windows in which a given element is inside the input, and its positions there.

    Args:
        offset: Position of the element in the window (dilation included).
        in_size: Size of the input.
        out_size: Number of windows.
        stride: Distance between windows.
        pad: Padding before the input.

    Returns:
        tuple of slice: Slice of the windows, and slice of the positions of their element.
        Both are empty if there is none.
    """
    first = max(0, -((offset - pad) // stride))
    last = min(out_size - 1, (in_size - 1 + pad - offset) // stride)
    if last < first:
        return slice(0, 0), slice(0, 0)
    start = first * stride + offset - pad
    return slice(first, last + 1), slice(start, (last - first) * stride + start + 1, stride)


#: Index of an element of a window, slices of the windows, slices of the input.
Piece = tuple[Sizes, tuple[slice, ...], tuple[slice, ...]]


# Remembered: on small images they took as long as copying the elements. A training has a few sizes.
@functools.lru_cache(maxsize=512)
def window_slices(
    ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
) -> tuple[Piece, ...]:
    """Returns the elements of a window: index, slices of the windows, slices of the input.

    Elements that are in the padding in every window are left out.
    """
    found: list[Piece] = []
    ranges = [
        [window_range(i * d, n, m, s, p) for i in range(k)]
        for k, n, m, s, p, d in zip(ksize, in_size, out_size, stride, pad, dilate, strict=True)
    ]
    for index in product(*map(range, ksize)):
        chosen = [r[i] for r, i in zip(ranges, index, strict=True)]
        windows = tuple([w for w, _ in chosen])
        if all([w.stop for w in windows]):
            found.append((index, windows, tuple([x for _, x in chosen])))
    return tuple(found)


def copy_patches(
    x: Array, patches: Array, stride: Sizes, pad: Sizes, dilate: Sizes, value: float | None = 0
) -> None:
    """Fills ``patches``, shape ``(N, C, k_1, ..., l_1, ...)``, from images ``(N, C, d_1, ...)``.

    Args:
        x: Images.
        patches: Array to fill; any strides and any dtype.
        stride: Distance between windows.
        pad: Padding on both sides.
        dilate: Distance between the elements of a window.
        value: Value of the padding; None leaves positions in the padding as they are.
    """
    n = len(stride)
    in_size, ksize, out_size = x.shape[2:], patches.shape[2 : 2 + n], patches.shape[2 + n :]
    if value is not None:
        _fill_padding(patches, in_size, stride, pad, dilate, value)
    for index, windows, inputs in window_slices(ksize, in_size, out_size, stride, pad, dilate):
        patches[(slice(None), slice(None), *index, *windows)] = x[(..., *inputs)]


def _fill_padding(
    patches: Array, in_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes, value: float
) -> None:
    """Sets those elements of patches that are outside the images."""
    n = len(stride)
    for axis in range(n):
        windows_axis = 2 + n + axis
        size = patches.shape[windows_axis]
        for i in range(patches.shape[2 + axis]):
            inside, _ = window_range(i * dilate[axis], in_size[axis], size, stride[axis], pad[axis])
            for outside in (slice(0, inside.start), slice(inside.stop, size)):
                if outside.start < outside.stop:
                    index: list[Any] = [slice(None)] * patches.ndim
                    index[2 + axis] = i
                    index[windows_axis] = outside
                    patches[tuple(index)] = value


def reaches_padding(
    ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
) -> bool:
    """Returns whether a window contains a position outside the input."""
    return any(pad) or any(
        [
            (m - 1) * s + (k - 1) * d + 1 > n
            for k, n, m, s, d in zip(ksize, in_size, out_size, stride, dilate, strict=True)
        ]
    )


def add_patches(patches: Array, x: Array, stride: Sizes, pad: Sizes, dilate: Sizes) -> None:
    """Adds ``patches``, shape ``(N, C, k_1, ..., l_1, ...)``, to images at their positions.

    Args:
        patches: Patches.
        x: Images of shape ``(N, C, d_1, ...)``, changed in place.
        stride: Distance between windows.
        pad: Padding on both sides.
        dilate: Distance between the elements of a window.
    """
    n = len(stride)
    in_size, ksize, out_size = x.shape[2:], patches.shape[2 : 2 + n], patches.shape[2 + n :]
    for index, windows, inputs in window_slices(ksize, in_size, out_size, stride, pad, dilate):
        x[(..., *inputs)] += patches[(slice(None), slice(None), *index, *windows)]


def sum_patches(
    xp: Any, patches: Array, in_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
) -> Array:
    """Returns the sum of ``patches``, shape ``(N, C, k_1, ..., l_1, ...)``, as new images.

    Args:
        xp: Array namespace.
        patches: Patches.
        in_size: Spatial size of the images.
        stride: Distance between windows.
        pad: Padding on both sides.
        dilate: Distance between the elements of a window.
    """
    n = len(stride)
    ksize, out_size = patches.shape[2 : 2 + n], patches.shape[2 + n :]
    pieces = list(window_slices(ksize, in_size, out_size, stride, pad, dilate))
    x: Array = None
    everywhere = tuple([slice(0, m, 1) for m in in_size])
    for index, windows, inputs in pieces:
        # A copy of patches that cover the whole image saves filling an array with zeros first.
        if inputs == everywhere:
            x = patches[(slice(None), slice(None), *index, *windows)].copy()
            pieces.remove((index, windows, inputs))
            break
    if x is None:
        x = xp.zeros((*patches.shape[:2], *in_size), patches.dtype)
    for index, windows, inputs in pieces:
        x[(..., *inputs)] += patches[(slice(None), slice(None), *index, *windows)]
    return x
