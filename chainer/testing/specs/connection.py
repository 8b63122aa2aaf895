"""Connections: linear, convolution, embedding."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value
from chainer.testing.specs.windows import windows


def _linear(x, W, b=0.0, n_batch_axes=1):
    batch = x.shape[:n_batch_axes]
    rows = x.reshape(*batch, int(np.prod(x.shape[n_batch_axes:])))
    return (rows[..., None, :] * W).sum(axis=-1) + b


def _convolution(x, W, b=None, stride=1, pad=0, dilate=1, groups=1):
    parts = []
    for xs, Ws in zip(np.split(x, groups, axis=1), np.split(W, groups, axis=0)):
        cut = windows(xs, W.shape[2:], stride, pad, dilate)
        spatial = tuple(range(2, x.ndim))
        kernel = tuple(axis + len(spatial) for axis in spatial)
        y = np.tensordot(cut, Ws, ((1, *kernel), (1, *spatial)))
        parts.append(np.moveaxis(y, -1, 1))
    y = np.concatenate(parts, axis=1)
    return y if b is None else y + b.reshape(1, -1, *[1] * (x.ndim - 2))


SPECS = (
    OpSpec(
        "linear",
        reference=_linear,
        samples=lambda draw: [
            Sample(draw((4, 3)), draw((2, 3)), draw((2,))),
            Sample(draw((4, 3)), draw((2, 3))),
            Sample(draw((2, 3, 2)), draw((4, 6)), draw((4,))),
            Sample(draw((0, 3)), draw((2, 3)), draw((2,)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)in_types\[0\]\.shape\[1\] == in_types\[1\]\.shape\[1\].*3 != 5",
                _f(2, 3),
                _f(4, 5),
            ),
            invalid_type(
                r"in_types\[2\]\.shape\[0\] == in_types\[1\]\.shape\[0\]", _f(2, 3), _f(4, 3), _f(3)
            ),
            invalid_type(r"in_types\[1\]\.ndim == 2", _f(2, 3), _f(4, 3, 1)),
        ],
    ),
    OpSpec(
        "convolution_2d",
        reference=_convolution,
        samples=lambda draw: [
            Sample(draw((2, 3, 5, 4)), draw((2, 3, 3, 2)), draw((2,))),
            Sample(draw((2, 3, 5, 4)), draw((2, 3, 3, 2)), stride=2, pad=1),
            Sample(draw((1, 2, 6, 7)), draw((3, 2, 2, 3)), stride=(2, 1), pad=(0, 2), dilate=2),
            Sample(draw((2, 4, 4, 5)), draw((6, 2, 3, 3)), draw((6,)), pad=1, groups=2),
            Sample(draw((2, 3, 4, 4)), draw((2, 3, 1, 1)), draw((2,)), label="1x1 kernel"),
            Sample(draw((0, 3, 5, 4)), draw((2, 3, 3, 2)), draw((2,)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)Convolution2DFunction.*in_types\[0\]\.ndim == 4", _f(2, 3), _f(2, 3, 3, 3)
            ),
            invalid_type(
                r"in_types\[2\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
                _f(2, 3, 5, 5),
                _f(2, 3, 3, 3),
                _f(3),
            ),
            invalid_value(
                "deterministic argument is not supported anymore",
                _f(2, 3, 5, 5),
                _f(2, 3, 3, 3),
                deterministic=True,
            ),
            ErrorInput(
                _f(2, 3, 5, 5), _f(2, 3, 3, 3), nonsense=1, error=TypeError, match="nonsense"
            ),
        ],
    ),
    OpSpec(
        "embed_id",
        reference=lambda x, W, ignore_label=None: np.where(
            (x == ignore_label)[..., None], 0, W[np.where(x == ignore_label, 0, x)]
        ),
        samples=lambda draw: [
            Sample(draw.integers((2, 3), 0, 4), draw((4, 5))),
            Sample(np.array([0, -1, 3, 3, -1], np.int32), draw((4, 5)), ignore_label=-1),
            Sample(np.zeros((0, 2), np.int32), draw((4, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.dtype\.kind == i", _f(2), _f(2, 3)),
            invalid_type(r"in_types\[1\]\.ndim == 2", np.zeros(2, np.int32), _f(2, 3, 1)),
        ],
    ),
)
