"""Pooling of regions of interest."""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type


def _bins(low, high, count, limit):
    size = max(high - low, 1) / count
    for i in range(count):
        start, stop = low + math.floor(i * size), low + math.ceil((i + 1) * size)
        yield slice(min(max(start, 0), limit), min(max(stop, 0), limit))


def _pooling(reduce, empty):
    def pooling(x, rois, roi_indices, outsize, spatial_scale):
        outsize = (outsize, outsize) if isinstance(outsize, int) else outsize
        y = np.full((len(rois), x.shape[1], *outsize), empty)
        for n, (top, left, bottom, right) in enumerate(rois * spatial_scale):
            for i, rows in enumerate(_bins(round(top), round(bottom), outsize[0], x.shape[2])):
                for j, columns in enumerate(
                    _bins(round(left), round(right), outsize[1], x.shape[3])
                ):
                    part = x[roi_indices[n], :, rows, columns]
                    if part.size:
                        y[n, :, i, j] = reduce(part, axis=(1, 2))
        return y

    return pooling


def _near(p, length):
    """Pixels around a point, with weights; None more than a pixel outside."""
    if p < -1 or p > length:
        return None
    p = min(max(p, 0), length - 1)
    low = min(math.floor(p), length - 1)
    return [(low, low + 1 - p), (min(low + 1, length - 1), p - low)]


def _samples(low, high, count, ratio):
    """The points of each bin."""
    size = max(high - low, 1) / count
    ratio = math.ceil(size) if ratio is None else ratio
    return [[low + size * (i + (k + 0.5) / ratio) for k in range(ratio)] for i in range(count)]


def _align(reduce, outside):
    def align(x, rois, roi_indices, outsize, spatial_scale, sampling_ratio=None):
        outsize = (outsize, outsize) if isinstance(outsize, int) else outsize
        ratio = sampling_ratio if isinstance(sampling_ratio, tuple) else (sampling_ratio,) * 2
        y = np.zeros((len(rois), x.shape[1], *outsize))
        for n, (top, left, bottom, right) in enumerate(rois * spatial_scale):
            image = x[roi_indices[n]]
            for i, rows in enumerate(_samples(top, bottom, outsize[0], ratio[0])):
                for j, columns in enumerate(_samples(left, right, outsize[1], ratio[1])):
                    values = []
                    for p in rows:
                        for q in columns:
                            near_rows, near_columns = _near(p, x.shape[2]), _near(q, x.shape[3])
                            values.append(
                                np.full(x.shape[1], outside)
                                if near_rows is None or near_columns is None
                                else sum(
                                    u * v * image[:, r, c]
                                    for r, u in near_rows
                                    for c, v in near_columns
                                )
                            )
                    y[n, :, i, j] = reduce(values, axis=0)
        return y

    return align


#: Without empty bins: minus infinity has no finite differences.
_ROIS = np.array([[1, 1, 6, 6], [0, 0, 12, 5], [2, -1, 9, 3], [4, 3, 4, 3]], np.float64)
_IMAGES = np.array([0, 1, 0, 1], np.int32)


def _spec(name, reference, **options):
    def samples(draw):
        yield Sample(
            draw.distinct((2, 2, 8, 7)),
            _ROIS,
            _IMAGES,
            outsize=(3, 2),
            spatial_scale=0.75,
            skip_grad=(1,),
            **options,
        )
        yield Sample(
            draw.distinct((2, 3, 5, 6)),
            _ROIS[:2],
            _IMAGES[:2].astype(np.int64),
            outsize=2,
            spatial_scale=0.5,
            skip_grad=(1,),
        )
        yield Sample(
            draw((2, 2, 4, 4)),
            np.zeros((0, 4)),
            np.zeros(0, np.int32),
            outsize=2,
            spatial_scale=1.0,
            skip_grad=(1,),
            kind="empty",
        )

    def errors(draw):
        x, rois, indices = np.ones((2, 3, 8, 8), np.float32), _ROIS.astype(np.float32), _IMAGES
        size = {"outsize": 2, "spatial_scale": 0.5}

        def mistyped(*arrays, match):
            return invalid_type(match, *arrays, **size)

        yield mistyped(x, rois[:, 1:], indices, match=r"(?s)in_types\[1\]\.shape\[1\] == 4")
        yield mistyped(x, rois, indices[1:], match=r"in_types\[1\]\.shape\[0\] == in_types\[2\]")
        yield mistyped(x, rois, rois[:, 0], match=r"in_types\[2\]\.dtype\.kind == i")
        yield mistyped(x, _ROIS, indices, match=r"in_types\[0\]\.dtype == in_types\[1\]\.dtype")
        for wrong in ({"outsize": (2, 0)}, {"outsize": 2.0}, {"spatial_scale": -1.0}):
            (name,) = wrong
            yield ErrorInput(
                x, rois, indices, **{**size, **wrong}, error=TypeError, match=f"{name}.*positive"
            )

    return OpSpec(name, reference=reference, samples=samples, errors=errors)


SPECS = (
    _spec("roi_average_pooling_2d", _pooling(np.mean, 0.0)),
    _spec("roi_max_pooling_2d", _pooling(np.max, -np.inf)),
    _spec("roi_average_align_2d", _align(np.mean, 0.0), sampling_ratio=(2, None)),
    _spec("roi_max_align_2d", _align(np.max, -np.inf), sampling_ratio=(2, None)),
)
