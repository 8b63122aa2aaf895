"""Noise and pooling."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils import type_check
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample


def _drop_path(x, mask):
    return x * mask.reshape((-1,) + (1,) * (x.ndim - 1))


def _pooling(x, output_size):
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    height, width = x.shape[2:]
    y = np.empty((*x.shape[:2], rows, columns))
    for i in range(rows):
        for j in range(columns):
            top, bottom = i * height // rows, -(-(i + 1) * height // rows)
            left, right = j * width // columns, -(-(j + 1) * width // columns)
            y[:, :, i, j] = x[:, :, top:bottom, left:right].mean(axis=(2, 3))
    return y


SPECS = (
    OpSpec(
        "drop_path",
        reference=_drop_path,
        samples=lambda draw: [
            Sample(draw((3, 2, 2)), mask=draw((3,))),
            Sample(draw((3,)), mask=draw((3,))),
            Sample(draw((0, 3)), mask=draw((0,)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(np.ones((2, 3), int), error=type_check.InvalidType, match="kind == f"),
            ErrorInput(draw((2, 3)), ratio=1.0, error=ValueError, match="ratio must be"),
            ErrorInput(
                draw((2, 3)), mask=np.ones(3), error=ValueError, match=r"mask must have the shape"
            ),
        ],
    ),
    OpSpec(
        "drop_path_random",
        reference=None,
        call=lambda F, x: F.drop_path(x, 0.5),
        covers=("drop_path",),
        samples=lambda draw: [Sample(draw((8, 2)))],
    ),
    OpSpec(
        "adaptive_average_pooling_2d",
        reference=_pooling,
        samples=lambda draw: [
            Sample(draw((2, 3, 5, 4)), output_size=(2, 3)),
            Sample(draw((2, 1, 4, 6)), output_size=(2, 3)),
            Sample(draw((1, 2, 3, 5)), output_size=1),
            Sample(draw((1, 2, 2, 3)), output_size=4),
            Sample(draw((0, 2, 3, 3)), output_size=2, kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(draw((2, 3, 4)), output_size=1, error=ValueError, match=r"\(N, C, H, W\)"),
            ErrorInput(draw((2, 3, 4, 4)), output_size=0, error=ValueError, match="positive"),
        ],
    ),
)
