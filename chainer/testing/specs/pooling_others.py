"""Spatial pooling other than two-dimensional max pooling."""

# pyright: basic
from __future__ import annotations

import itertools
import math

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value
from chainer.testing.specs.windows import pair, windows


def max_pooling(x, ksize, stride=None, pad=0, cover_all=True):
    """Maxima of windows, in any number of dimensions."""
    stride = ksize if stride is None else stride
    count = x.ndim - 2
    # Padding never is a maximum.
    cut = windows(x, pair(ksize, count), stride, pad, cover_all=cover_all, fill=-np.inf)
    return cut.max(axis=tuple(range(-count, 0)))


def average_pooling(x, ksize, stride=None, pad=0, pad_value=0):
    """Means of windows, in any number of dimensions."""
    stride = ksize if stride is None else stride
    count = x.ndim - 2
    axes = tuple(range(-count, 0))
    sums = windows(x, pair(ksize, count), stride, pad).sum(axis=axes)
    # Otherwise a window is divided by the number of its elements inside the image.
    if pad_value == 0:
        return sums / np.prod(pair(ksize, count))
    return sums / windows(np.ones_like(x), pair(ksize, count), stride, pad).sum(axis=axes)


def _places(x, ksize, stride, pad, outsize, cover_all):
    """Indexes of the windows, and where in the padded output each begins."""
    count = x.ndim - 2
    ksize = pair(ksize, count)
    stride = ksize if stride is None else pair(stride, count)
    pad = pair(pad, count)
    full = [s * (n - 1) + k for s, n, k in zip(stride, x.shape[2:], ksize)]
    # The smallest size whose pooling has the shape of the input; with ``cover_all`` the last window
    # may be cut off.
    if outsize is None:
        less = [s - 1 if cover_all else 0 for s in stride]
        outsize = [n - 2 * p - e for n, p, e in zip(full, pad, less)]
    # A given size may be larger than what the windows cover.
    room = [max(n, size + 2 * p) for n, size, p in zip(full, outsize, pad)]
    inner = (..., *[slice(p, p + n) for p, n in zip(pad, outsize)])
    places = itertools.product(*map(range, x.shape[2:]))
    return ksize, room, inner, [(p, [i * s for i, s in zip(p, stride)]) for p in places]


def unpooling(x, ksize, stride=None, pad=0, outsize=None, cover_all=True):
    """Each element spread over its window, in any number of dimensions."""
    ksize, room, inner, places = _places(x, ksize, stride, pad, outsize, cover_all)
    y = np.zeros((*x.shape[:2], *room), x.dtype)
    for place, start in places:
        cut = tuple(slice(i, i + k) for i, k in zip(start, ksize))
        value = x[(..., *place)].reshape(*x.shape[:2], *[1] * len(cut))
        y[(..., *cut)] += value
    return y[inner]


def _upsampling(x, indexes, ksize, stride=None, pad=0, outsize=None, cover_all=True):
    ksize, room, inner, places = _places(x, ksize, stride, pad, outsize, cover_all)
    y = np.zeros((*x.shape[:2], *room), x.dtype)
    # An index is the row-major position of the maximum in its window.
    for (i, j), (row, column) in places:
        for n, c in np.ndindex(*x.shape[:2]):
            a, b = divmod(int(indexes[n, c, i, j]), ksize[1])
            y[n, c, row + a, column + b] += x[n, c, i, j]
    return y[inner]


def _roi(x, rois, outh, outw, spatial_scale):
    y = np.zeros((len(rois), x.shape[1], outh, outw), x.dtype)
    for n, (batch, left, top, right, bottom) in enumerate(rois):
        # The last row and column belong to the region, and a region has at least one element.
        left, top, right, bottom = (round(v * spatial_scale) for v in (left, top, right, bottom))
        height, width = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i, j in np.ndindex(outh, outw):
            rows = slice(
                max(top + math.floor(i * height / outh), 0),
                max(top + math.ceil((i + 1) * height / outh), 0),
            )
            columns = slice(
                max(left + math.floor(j * width / outw), 0),
                max(left + math.ceil((j + 1) * width / outw), 0),
            )
            part = x[int(batch), :, rows, columns]
            # Bins outside of the image are 0.
            if part.size:
                y[n, :, i, j] = part.max(axis=(1, 2))
    return y


def _pyramid(x, pyramid_height, pooling):
    parts = []
    for level in range(pyramid_height):
        count = 2**level
        # As many windows as the level asks for, the padding shared between both sides.
        ksize = [math.ceil(n / count) for n in x.shape[2:]]
        pad = [(count * k - n) // 2 for k, n in zip(ksize, x.shape[2:])]
        cut = windows(x, ksize, ksize, pad, cover_all=True, fill=-np.inf)
        parts.append(cut.max(axis=(-2, -1)).reshape(len(x), -1, 1, 1))
    return np.concatenate(parts, axis=1)


def _other_outsize(match):
    """Errors of an unpooling whose output is not what a pooling makes the input of."""
    return lambda draw: [invalid_type(match, _f(2, 3, 3, 3), ksize=2, outsize=(7, 7))]


SPECS = (
    OpSpec(
        "max_pooling_nd",
        reference=max_pooling,
        samples=lambda draw: [
            # Without ties, and one element more than whole windows.
            Sample(draw.distinct((2, 3, 7)), ksize=2),
            Sample(draw.distinct((1, 2, 4, 5, 4)), ksize=(2, 3, 2), stride=(2, 1, 2), pad=1),
            Sample(draw.distinct((1, 2, 5, 4)), ksize=3, stride=2, cover_all=False),
            Sample(draw((0, 2, 4)), ksize=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_value("at least one spatial dimension", _f(2, 3), ksize=2),
            invalid_value("ksize", _f(2, 3, 4), ksize=(2, 2)),
        ],
    ),
    OpSpec(
        "max_pooling_2d_with_indices",
        reference=lambda x: (max_pooling(x, 2), np.array([[[[3, 0], [0, 1]]]])),
        call=lambda F, x: F.max_pooling_2d(x, 2, return_indices=True),
        # The positions are integers, which have no gradient.
        constant_outputs=(1,),
        samples=lambda draw: [
            Sample(
                # The maxima are at different positions of their windows.
                np.array([[[[1, 2, 8, 6], [3, 4, 5, 7], [9, 1, 1, 9], [8, 7, 8, 7]]]], np.float64)
            )
        ],
    ),
    OpSpec(
        "average_pooling_2d",
        reference=average_pooling,
        samples=lambda draw: [
            Sample(draw((2, 3, 4, 6)), ksize=2),
            Sample(draw((1, 2, 5, 4)), ksize=(3, 2), stride=(2, 1), pad=1),
            Sample(draw((2, 2, 3, 3)), ksize=3, label="the whole image"),
            Sample(draw((0, 2, 4, 4)), ksize=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"(?s)AveragePooling2D.*in_types\[0\]\.ndim == 4", _f(2, 3, 6), ksize=2),
            invalid_value("Height in the output should be positive", _f(2, 3, 2, 2), ksize=5),
        ],
    ),
    OpSpec(
        "average_pooling_nd",
        reference=average_pooling,
        samples=lambda draw: [
            Sample(draw((2, 3, 7)), ksize=2),
            Sample(draw((1, 2, 4, 5, 3)), ksize=(2, 3, 2), stride=(2, 1, 2), pad=1),
            Sample(draw((2, 2, 5, 4)), ksize=3, stride=2, pad=1, pad_value=None),
        ],
        errors=lambda draw: [invalid_value("pad_value", _f(2, 3, 4), ksize=2, pad_value=1)],
    ),
    OpSpec(
        "unpooling_2d",
        reference=unpooling,
        samples=lambda draw: [
            Sample(draw((2, 3, 2, 3)), ksize=2, cover_all=False),
            Sample(draw((1, 2, 3, 2)), ksize=3, stride=2, pad=1),
            Sample(draw((1, 2, 3, 3)), ksize=2, outsize=(5, 6)),
            Sample(draw((0, 2, 3, 3)), ksize=2, kind="empty"),
        ],
        errors=_other_outsize(r"(?s)Unpooling2D.*in_types\[0\]\.shape\[2\] == 4"),
    ),
    OpSpec(
        "unpooling_nd",
        reference=unpooling,
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), ksize=2),
            Sample(draw((1, 2, 2, 3, 2)), ksize=(2, 3, 2), stride=(2, 1, 2), pad=(0, 1, 0)),
        ],
        errors=_other_outsize(r"(?s)UnpoolingND.*in_types\[0\]\.shape\[2:\] == \(4, 4\)"),
    ),
    OpSpec(
        "upsampling_2d",
        reference=_upsampling,
        samples=lambda draw: [
            Sample(draw((2, 2, 2, 3)), draw.integers((2, 2, 2, 3), 0, 4), ksize=2, cover_all=False),
            Sample(draw((1, 2, 3, 2)), draw.integers((1, 2, 3, 2), 0, 9), ksize=3, stride=2, pad=1),
            Sample(draw((0, 2, 3, 2)), np.zeros((0, 2, 3, 2), int), ksize=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)Upsampling2D.*in_types\[0\]\.shape == \(2, 3, 3, 2\)",
                _f(2, 3, 3, 3),
                np.zeros((2, 3, 3, 2), int),
                ksize=2,
            )
        ],
    ),
    OpSpec(
        "roi_pooling_2d",
        reference=_roi,
        samples=lambda draw: [
            Sample(
                draw.distinct((2, 2, 8, 7)),
                # One region inside the image, one that is larger, one that begins before it.
                np.array([[0, 1, 1, 6, 6], [1, 0, 0, 5, 12], [0, -3, 2, 3, 9]], np.float64),
                outh=3,
                outw=2,
                spatial_scale=0.75,
                skip_grad=(1,),
            ),
            Sample(
                draw.distinct((2, 2, 4, 4)),
                # No region at all.
                np.zeros((0, 5)),
                outh=2,
                outw=2,
                spatial_scale=1.0,
                skip_grad=(1,),
                kind="empty",
            ),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)ROIPooling2D.*in_types\[1\]\.shape\[1\] == 5",
                _f(2, 3, 12, 8),
                _f(2, 4),
                outh=2,
                outw=2,
                spatial_scale=0.5,
            ),
            invalid_value(
                "outh must be positive",
                _f(2, 3, 12, 8),
                _f(2, 5),
                outh=0,
                outw=2,
                spatial_scale=0.5,
            ),
        ],
    ),
    OpSpec(
        "spatial_pyramid_pooling_2d",
        reference=_pyramid,
        samples=lambda draw: [
            Sample(draw.distinct((2, 3, 7, 6)), pyramid_height=2, pooling="max"),
            Sample(draw.distinct((1, 2, 4, 4)), pyramid_height=3, pooling="max"),
        ],
        errors=lambda draw: [
            invalid_value(
                "Unsupported pooling operation", _f(2, 3, 7, 9), pyramid_height=3, pooling="avg"
            ),
            invalid_value("Specify the pooling operation", _f(2, 3, 7, 9), pyramid_height=3),
        ],
    ),
)
