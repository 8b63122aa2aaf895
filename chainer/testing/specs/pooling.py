"""Spatial pooling."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type
from chainer.testing.specs.windows import pair, windows


def _max_pooling(x, ksize, stride=None, pad=0, cover_all=True):
    stride = ksize if stride is None else stride
    count = x.ndim - 2
    cut = windows(x, pair(ksize, count), stride, pad, cover_all=cover_all, fill=-np.inf)
    return cut.max(axis=tuple(range(-count, 0)))


SPECS = (
    OpSpec(
        "max_pooling_2d",
        reference=_max_pooling,
        samples=lambda draw: [
            Sample(draw.distinct((2, 3, 4, 6)), ksize=2),
            Sample(draw.distinct((2, 2, 5, 4)), ksize=2, cover_all=True),
            Sample(draw.distinct((1, 2, 5, 4)), ksize=(3, 2), stride=(2, 1), pad=1),
            Sample(draw.distinct((2, 1, 5, 5)), ksize=3, stride=2, pad=1, cover_all=False),
            Sample(draw((0, 2, 4, 4)), ksize=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)MaxPooling2D.*in_types\[0\]\.ndim == 4", np.ones((2, 3), "f"), ksize=2
            ),
            invalid_type(r"in_types\[0\]\.dtype\.kind == f", np.ones((2, 3, 4, 4), "i"), ksize=2),
        ],
    ),
)
