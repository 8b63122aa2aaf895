"""Activation functions."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils.type_check import InvalidType
from chainer.plugins.testing.op_spec import BadSample, OpSpec, Sample

INTEGER_INPUT = BadSample(
    np.arange(6).reshape(2, 3), error=InvalidType, match=r"in_types\[0\]\.dtype\.kind == f"
)


def _elementwise(draw):
    return [
        Sample(draw((3, 4))),
        Sample(draw((2, 1, 3), -3, 3)),
        Sample(draw(()), kind="zero-dim"),
        Sample(draw((0, 3)), kind="empty"),
    ]


def _elementwise_away_from_zero(draw):
    return [
        Sample(draw.away_from((3, 4))),
        Sample(draw.away_from((2, 1, 3), low=-3, high=3)),
        Sample(draw.away_from(()), kind="zero-dim"),
        Sample(draw((0, 3)), kind="empty"),
    ]


SPECS = (
    OpSpec(
        "tanh",
        reference=np.tanh,
        samples=_elementwise,
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "sigmoid",
        reference=lambda x: 1 / (1 + np.exp(-x)),
        samples=_elementwise,
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "relu",
        reference=lambda x: np.where(x > 0, x, 0),
        samples=_elementwise_away_from_zero,
        errors=lambda draw: [INTEGER_INPUT],
    ),
)
