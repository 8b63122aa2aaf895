"""Evaluation functions; none of them is differentiable."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils.type_check import InvalidType
from chainer.plugins.testing.op_spec import BadSample, OpSpec, Sample


def _accuracy(y, t, ignore_label=None):
    right = y.argmax(axis=1).reshape(t.shape) == t
    if ignore_label is None:
        return np.float64(right.mean())
    kept = t != ignore_label
    return right[kept].mean() if kept.any() else np.float64(0)


SPECS = (
    OpSpec(
        "accuracy",
        reference=_accuracy,
        gradient_order=0,
        samples=lambda draw: [
            Sample(draw.distinct((5, 3)), draw.integers((5,), 0, 3)),
            Sample(draw.distinct((5, 3)), draw.integers((5,), 0, 3), ignore_label=1),
            Sample(draw.distinct((2, 3)), np.ones(2, np.int32), ignore_label=1),
            Sample(draw.distinct((3, 4, 2)), draw.integers((3, 2), 0, 4)),
        ],
        errors=lambda draw: [
            BadSample(
                np.ones((2, 3), "f"),
                np.zeros(3, "i"),
                error=InvalidType,
                match=r"(?s)Accuracy.*in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
            ),
            BadSample(
                np.ones((2, 3), "f"),
                np.zeros(2, "f"),
                error=InvalidType,
                match=r"in_types\[1\]\.dtype\.kind == i",
            ),
        ],
    ),
)
