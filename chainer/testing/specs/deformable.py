"""Deformable convolution."""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value
from chainer.testing.specs.windows import pair


def _pixel(image, row, column):
    inside = 0 <= row < image.shape[1] and 0 <= column < image.shape[2]
    return image[:, row, column] if inside else np.zeros(len(image))


def _at(image, y, x):
    """Bilinear interpolation of an image, which is zero outside."""
    row, column = math.floor(y), math.floor(x)
    return sum(
        (1 - abs(y - i)) * (1 - abs(x - j)) * _pixel(image, i, j)
        for i in (row, row + 1)
        for j in (column, column + 1)
    )


def _sampler(x, offset, W, b=None, stride=1, pad=0):
    stride, pad = pair(stride), pair(pad)
    kh, kw = W.shape[2:]
    y = np.zeros((len(x), len(W), *offset.shape[2:]))
    for n, i, j in np.ndindex(len(x), *offset.shape[2:]):
        for ky, kx in np.ndindex(kh, kw):
            k = ky * kw + kx
            row = stride[0] * i + ky - pad[0] + offset[n, kh * kw + k, i, j]
            column = stride[1] * j + kx - pad[1] + offset[n, k, i, j]
            y[n, :, i, j] += W[:, :, ky, kx] @ _at(x[n], row, column)
    return y if b is None else y + b[:, None, None]


def _offsets(draw, *shape):
    # Fractions away from 0 and 1, where the interpolation has a kink.
    return draw.integers(shape, -2, 2) + draw(shape, 0.2, 0.8)


SPECS = (
    OpSpec(
        "deformable_convolution_2d_sampler",
        reference=_sampler,
        samples=lambda draw: [
            Sample(draw((2, 2, 4, 5)), _offsets(draw, 2, 8, 3, 4), draw((3, 2, 2, 2)), draw((3,))),
            Sample(
                draw((1, 2, 5, 4)),
                _offsets(draw, 1, 12, 2, 3),
                draw((2, 2, 3, 2)),
                stride=(2, 1),
                pad=(1, 0),
            ),
            Sample(draw((1, 1, 1, 3)), _offsets(draw, 1, 2, 2, 2), draw((1, 1, 1, 1)), pad=1),
            Sample(
                draw((0, 2, 4, 5)), draw((0, 8, 3, 4)), draw((3, 2, 2, 2)), draw((3,)), kind="empty"
            ),
        ],
        errors=lambda draw: [
            invalid_value(
                "offset does not match the kernel size: 9 channels",
                _f(1, 2, 4, 4),
                _f(1, 9, 3, 3),
                _f(1, 2, 2, 2),
            ),
            invalid_value(
                "x must have 2 channels like W, got 3",
                _f(1, 3, 4, 4),
                _f(1, 8, 3, 3),
                _f(1, 2, 2, 2),
            ),
            invalid_value(
                r"x must have 4 dimensions, got shape \(2, 4, 4\)",
                _f(2, 4, 4),
                _f(1, 8, 3, 3),
                _f(1, 2, 2, 2),
            ),
            invalid_type("dtype", _f(1, 2, 4, 4), np.ones((1, 8, 3, 3)), _f(1, 2, 2, 2)),
            invalid_value(
                "stride must be positive", _f(1, 2, 4, 4), _f(1, 8, 3, 3), _f(1, 2, 2, 2), stride=0
            ),
        ],
        tolerances={"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (2e-1, 2e-1))},
    ),
)
