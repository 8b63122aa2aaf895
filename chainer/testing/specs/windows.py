"""Sliding windows for the formulas of convolution and pooling (no rows here)."""

# pyright: basic
from __future__ import annotations

import itertools

import numpy as np

SPECS = ()


def pair(value, count=2):
    """Returns a number for each spatial dimension."""
    return tuple(value) if np.iterable(value) else (value,) * count


def windows(x, ksize, stride, pad, dilate=1, cover_all=False, fill=0.0):
    """Returns the windows of an array, one after the other: ``(N, C, out..., k...)``.

    Args:
        x: Array ``(N, C, in...)``.
        ksize: Window size.
        stride: Step.
        pad: Padding on both sides.
        dilate: Distance of the elements of a window.
        cover_all: Whether the last window may stand out.
        fill: Value of the padding.
    """
    count = x.ndim - 2
    ksize, stride = pair(ksize, count), pair(stride, count)
    pad, dilate = pair(pad, count), pair(dilate, count)
    spans = [d * (k - 1) + 1 for k, d in zip(ksize, dilate)]
    outs = [
        (n + 2 * p - span + (s - 1 if cover_all else 0)) // s + 1
        for n, p, span, s in zip(x.shape[2:], pad, spans, stride)
    ]
    sizes = [
        max((o - 1) * s + span, n + 2 * p)
        for o, s, span, n, p in zip(outs, stride, spans, x.shape[2:], pad)
    ]
    padded = np.full((*x.shape[:2], *sizes), fill, x.dtype)
    inner = tuple(slice(p, p + n) for p, n in zip(pad, x.shape[2:]))
    padded[(slice(None), slice(None), *inner)] = x
    result = np.empty((*x.shape[:2], *outs, *ksize), x.dtype)
    for place in itertools.product(*map(range, outs)):
        cut = tuple(
            slice(i * s, i * s + span, d) for i, s, span, d in zip(place, stride, spans, dilate)
        )
        result[(slice(None), slice(None), *place)] = padded[(slice(None), slice(None), *cut)]
    return result
