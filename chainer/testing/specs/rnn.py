"""Recurrent functions."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm(c_prev, x):
    """Element ``4 * j + k`` of a row is gate ``k`` (a, i, f, o) of unit ``j``."""
    a, i, f, o = np.moveaxis(x.reshape(len(x), x.shape[1] // 4, 4, *x.shape[2:]), 2, 0)
    going_on = c_prev[: len(x)]
    c = np.tanh(a) * _sigmoid(i) + _sigmoid(f) * going_on
    h = _sigmoid(o) * np.tanh(c)
    return np.concatenate([c, c_prev[len(x) :]]), h


SPECS = (
    OpSpec(
        "lstm",
        reference=_lstm,
        samples=lambda draw: [
            Sample(draw((3, 2)), draw((3, 8))),
            Sample(draw((4, 2)), draw((2, 8)), label="shorter batch"),
            Sample(draw((2, 1, 3)), draw((2, 4, 3))),
            Sample(draw((1, 1)), draw((1, 4)), label="one unit of one sample"),
            Sample(draw((3, 1)), draw((3, 4)), label="one unit"),
            Sample(draw((3, 2)), draw((0, 8)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"(?s)LSTM.*in_types\[1\]\.shape\[0\] <= in_types\[0\]\.shape\[0\]",
                np.ones((2, 3), "f"),
                np.ones((3, 12), "f"),
            ),
            invalid_type(
                r"in_types\[1\]\.shape\[1\] == 4 \* in_types\[0\]\.shape\[1\]",
                np.ones((2, 3), "f"),
                np.ones((2, 16), "f"),
            ),
        ],
    ),
)
