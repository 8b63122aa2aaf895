"""Activation functions."""

# pyright: basic
from __future__ import annotations

import math

import numpy as np

from chainer.core.utils import type_check
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample

INTEGER_INPUT = ErrorInput(
    np.arange(3), error=type_check.InvalidType, match=r"in_types\[0\]\.dtype\.kind == f"
)

_erf = np.vectorize(math.erf, otypes=[float])


def _elementwise(draw, **kwargs):
    return [
        Sample(draw((2, 3), -3, 3), **kwargs),
        Sample(draw((2, 3, 2), -6, 6), **kwargs),
        Sample(draw(()), kind="zero-dim", **kwargs),
        Sample(draw((0, 3)), kind="empty", **kwargs),
    ]


def _gelu(x, approximate=False):
    if approximate:
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + _erf(x / math.sqrt(2)))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _silu(x):
    return x * _sigmoid(x)


def _gated(gate):
    def reference(x, axis=1):
        values, gates = np.split(x, 2, axis=axis)
        return values * gate(gates)

    return reference


def _gated_samples(draw):
    return [
        Sample(draw.away_from((2, 6))),
        Sample(draw.away_from((2, 3, 4)), axis=-1),
        Sample(draw.away_from((4,)), axis=0),
        Sample(draw((0, 4)), kind="empty"),
    ]


def _gated_errors(draw):
    x = draw((2, 3)).astype("f")
    return [
        ErrorInput(x, error=ValueError, match="length of x along axis 1 must be even, got 3"),
        ErrorInput(x, axis=2, error=ValueError, match="axis must be an axis of x, which has 2"),
    ]


SPECS = (
    OpSpec(
        "gelu",
        reference=_gelu,
        samples=lambda draw: [*_elementwise(draw), *_elementwise(draw, approximate=True)],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "quick_gelu",
        reference=lambda x: x * _sigmoid(1.702 * x),
        samples=_elementwise,
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec("silu", reference=_silu, samples=_elementwise, errors=lambda draw: [INTEGER_INPUT]),
    OpSpec(
        "mish",
        reference=lambda x: x * np.tanh(np.log1p(np.exp(x))),
        samples=_elementwise,
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec(
        "hard_swish",
        reference=lambda x: x * np.clip(x + 3, 0, 6) / 6,
        samples=lambda draw: [
            Sample(draw.away_from((3, 4), (-3, 3), low=-5, high=5)),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [INTEGER_INPUT],
    ),
    OpSpec("glu", reference=_gated(_sigmoid), samples=_gated_samples, errors=_gated_errors),
    OpSpec(
        "reglu",
        reference=_gated(lambda x: np.maximum(x, 0)),
        samples=_gated_samples,
        errors=_gated_errors,
    ),
    OpSpec("geglu", reference=_gated(_gelu), samples=_gated_samples, errors=_gated_errors),
    OpSpec("swiglu", reference=_gated(_silu), samples=_gated_samples, errors=_gated_errors),
)
