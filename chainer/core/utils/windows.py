"""Windows that slide over images: which positions they read, and copying them out and back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

Sizes = tuple[int, ...]


def window_range(
    offset: int, in_size: int, out_size: int, stride: int, pad: int
) -> tuple[slice, slice]:
    """Tells which windows have one of their elements inside the input, and where it lies.

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


def window_slices(
    ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
) -> Iterator[tuple[Sizes, tuple[slice, ...], tuple[slice, ...]]]:
    """Iterates over the elements of a window: index, slices of the windows, slices of the input.

    Elements that lie in the padding of every window are left out.
    """
    ranges = [
        [window_range(i * d, n, m, s, p) for i in range(k)]
        for k, n, m, s, p, d in zip(ksize, in_size, out_size, stride, pad, dilate, strict=True)
    ]
    for index in product(*map(range, ksize)):
        chosen = [r[i] for r, i in zip(ranges, index, strict=True)]
        windows = tuple([w for w, _ in chosen])
        if all([w.stop for w in windows]):
            yield index, windows, tuple([x for _, x in chosen])


def copy_patches(
    x: Any, patches: Any, stride: Sizes, pad: Sizes, dilate: Sizes, value: float | None = 0
) -> None:
    """Fills ``patches``, ``(N, C, k_1, ..., l_1, ...)``, from ``x``, ``(N, C, d_1, ...)``.

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
    if value is not None and reaches_padding(ksize, in_size, out_size, stride, pad, dilate):
        patches[...] = value
    for index, windows, inputs in window_slices(ksize, in_size, out_size, stride, pad, dilate):
        patches[(slice(None), slice(None), *index, *windows)] = x[(..., *inputs)]


def reaches_padding(
    ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
) -> bool:
    """Tells whether a window contains a position outside the input."""
    return any(pad) or any(
        [
            (m - 1) * s + (k - 1) * d + 1 > n
            for k, n, m, s, d in zip(ksize, in_size, out_size, stride, dilate, strict=True)
        ]
    )


def add_patches(patches: Any, x: Any, stride: Sizes, pad: Sizes, dilate: Sizes) -> None:
    """Adds ``patches``, shape ``(N, C, k_1, ..., l_1, ...)``, to the images ``x`` they are of.

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
