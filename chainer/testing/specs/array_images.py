"""Rearrangement and interpolation of images."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _im2col(x, ksize, stride=1, pad=0, cover_all=False, dilate=1):
    def two(v):
        return v if isinstance(v, tuple) else (v, v)

    ksize, stride, pad, dilate = map(two, (ksize, stride, pad, dilate))
    n, c, *size = x.shape
    padded = np.zeros((n, c, *[m + 2 * p + 20 for m, p in zip(size, pad, strict=True)]))
    padded[:, :, pad[0] : pad[0] + size[0], pad[1] : pad[1] + size[1]] = x
    out = []
    for m, k, s, p, d in zip(size, ksize, stride, pad, dilate, strict=True):
        room = m + 2 * p - (k - 1) * d - 1 + (s - 1 if cover_all else 0)
        out.append(room // s + 1)
    y = np.zeros((n, c, *ksize, *out))
    for index in np.ndindex(*ksize, *out):
        kh, kw, h, w = index
        y[(slice(None), slice(None), *index)] = padded[
            :, :, h * stride[0] + kh * dilate[0], w * stride[1] + kw * dilate[1]
        ]
    return y.reshape(n, c * ksize[0] * ksize[1], *out)


def _bilinear(x, v, u):
    """Samples one image ``(C, H, W)`` at a point; zeros surround it."""
    total = np.zeros(x.shape[0])
    v0, u0 = int(np.floor(v)), int(np.floor(u))
    for i in (v0, v0 + 1):
        for j in (u0, u0 + 1):
            if 0 <= i < x.shape[1] and 0 <= j < x.shape[2]:
                total = total + x[:, i, j] * (1 - abs(v - i)) * (1 - abs(u - j))
    return total


def _positions(length, count, mode, align_corners):
    if mode == "nearest":
        return [i * length // count for i in range(count)]
    if align_corners:
        return np.linspace(0, length - 1, count)
    points = [(i + 0.5) * length / count - 0.5 for i in range(count)]
    return [min(max(point, 0), length - 1) for point in points]


def _resize_images(x, output_shape, mode="bilinear", align_corners=True):
    rows = _positions(x.shape[2], output_shape[0], mode, align_corners)
    columns = _positions(x.shape[3], output_shape[1], mode, align_corners)
    y = np.empty((*x.shape[:2], *output_shape))
    for n, image in enumerate(x):
        for i, v in enumerate(rows):
            for j, u in enumerate(columns):
                y[n, :, i, j] = _bilinear(image, v, u)
    return y


def _grid(theta, output_shape):
    h, w = output_shape
    ys, xs = np.meshgrid(np.linspace(-1, 1, h), np.linspace(-1, 1, w), indexing="ij")
    points = np.stack([xs, ys, np.ones_like(xs)])
    return np.einsum("nij,jhw->nihw", theta, points)


def _sampler(x, grid):
    y = np.empty((x.shape[0], x.shape[1], *grid.shape[2:]))
    for n, i, j in np.ndindex(x.shape[0], *grid.shape[2:]):
        u = (grid[n, 0, i, j] + 1) * (x.shape[3] - 1) / 2
        v = (grid[n, 1, i, j] + 1) * (x.shape[2] - 1) / 2
        y[n, :, i, j] = _bilinear(x[n], v, u)
    return y


def _depth2space(X, r):
    n, c, h, w = X.shape
    y = np.empty((n, c // r**2, h * r, w * r))
    for i, j in np.ndindex(r, r):
        k = (i * r + j) * (c // r**2)
        y[:, :, i::r, j::r] = X[:, k : k + c // r**2]
    return y


def _space2depth(X, r):
    return np.concatenate([X[:, :, i::r, j::r] for i, j in np.ndindex(r, r)], axis=1)


def _ones(*shapes):
    return [np.ones(shape, "f") for shape in shapes]


#: Positions between the pixels of an image of 3 x 4 pixels, some outside.
def _points(draw, *shape):
    return np.stack(
        [
            draw.away_from(shape, np.linspace(-3, 3, 10), margin=0.05, low=-1.6, high=1.6),
            draw.away_from(shape, np.arange(-3, 4.0), margin=0.05, low=-1.6, high=1.6),
        ],
        axis=1,
    )


def _blocks(name, reference, shape, larger, empty):
    """Returns the specification of a function that moves blocks of two and three elements."""
    return OpSpec(
        name,
        reference=reference,
        samples=lambda draw: [
            Sample(draw(shape), r=2),
            Sample(draw(larger), r=3),
            Sample(draw(empty), r=2, kind="empty"),
        ],
        errors=lambda draw: [invalid_type("ndim == 4", *_ones((2, 3)), r=1)],
    )


SPECS = (
    OpSpec(
        "im2col",
        reference=_im2col,
        samples=lambda draw: [
            Sample(draw((2, 2, 4, 5)), ksize=3),
            Sample(draw((1, 2, 4, 5)), ksize=(2, 3), stride=(2, 1), pad=(1, 0)),
            Sample(draw((1, 2, 5, 5)), ksize=2, stride=2, pad=1, cover_all=True),
            Sample(draw((1, 1, 6, 6)), ksize=2, dilate=(2, 3)),
            Sample(draw((0, 2, 4, 4)), ksize=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("ndim == 4", *_ones((2, 3)), ksize=1),
            invalid_value("Height in the output", *_ones((1, 1, 2, 2)), ksize=3),
        ],
    ),
    OpSpec(
        "resize_images",
        reference=_resize_images,
        samples=lambda draw: [
            *[
                Sample(draw((2, 2, 3, 4)), output_shape=size)
                for size in ((5, 7), (2, 2), (1, 1), (3, 4), (1, 3), (4, 70))
            ],
            *[
                Sample(draw((1, 2, 3, 4)), output_shape=size, mode=mode, align_corners=corners)
                for size in ((5, 7), (2, 3), (1, 1), (3, 4), (4, 70))
                for mode, corners in (("bilinear", False), ("nearest", True))
            ],
            Sample(draw((0, 2, 3, 3)), output_shape=(2, 2), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("ndim == 4", *_ones((2, 3)), output_shape=(1, 1)),
            invalid_value(
                "output_shape must be positive", *_ones((1, 1, 2, 2)), output_shape=(0, 1)
            ),
            invalid_value(
                "mode must be 'bilinear' or 'nearest', got 'cubic'",
                *_ones((1, 1, 2, 2)),
                output_shape=(1, 1),
                mode="cubic",
            ),
        ],
    ),
    OpSpec(
        "spatial_transformer_grid",
        reference=_grid,
        samples=lambda draw: [
            Sample(draw((2, 2, 3)), output_shape=(3, 4)),
            Sample(draw((1, 2, 3)), output_shape=(1, 1)),
            Sample(draw((0, 2, 3)), output_shape=(2, 2), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.shape\[1\] == 2", *_ones((2, 3, 3)), output_shape=(2, 2)),
            invalid_value(
                '"use_cudnn" is not supported anymore',
                *_ones((2, 2, 3)),
                output_shape=(2, 2),
                use_cudnn=True,
            ),
        ],
    ),
    OpSpec(
        "spatial_transformer_sampler",
        reference=_sampler,
        samples=lambda draw: [
            Sample(draw((2, 2, 3, 4)), _points(draw, 2, 2, 3)),
            Sample(draw((1, 3, 3, 4)), _points(draw, 1, 3, 2)),
            Sample(draw((0, 2, 3, 4)), draw((0, 2, 2, 2)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                *_ones((2, 3, 4, 4), (1, 2, 4, 4)),
            ),
            invalid_type(r"shape\[1\] == 2", *_ones((2, 3, 4, 4), (2, 3, 4, 4))),
        ],
    ),
    _blocks("depth2space", _depth2space, (2, 8, 2, 3), (1, 9, 1, 2), (0, 4, 2, 2)),
    _blocks("space2depth", _space2depth, (2, 2, 4, 6), (1, 1, 3, 6), (0, 1, 2, 2)),
)
