"""Normalizations."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils import type_check
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance

_HALF = {"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))}


def _per_channel(vector, x):
    return vector.reshape((-1,) + (1,) * (x.ndim - 2))


def _instance(x, gamma=None, beta=None, eps=1e-5):
    gamma = np.ones(x.shape[1]) if gamma is None else gamma
    beta = np.zeros(x.shape[1]) if beta is None else beta
    axes = tuple(range(2, x.ndim))
    mean, var = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * _per_channel(gamma, x) + _per_channel(beta, x)


def _f(*shape):
    return np.ones(shape, np.float32)


SPECS = (
    OpSpec(
        "instance_normalization",
        reference=_instance,
        samples=lambda draw: [
            Sample(draw((2, 3, 4, 2)), draw((3,)), draw((3,))),
            Sample(draw((2, 3, 4)), eps=0.1),
            Sample(draw((2, 3, 4)), draw((3,)), label="gamma only"),
            Sample(draw((0, 3, 4)), draw((3,)), draw((3,)), kind="empty"),
        ],
        tolerances=_HALF,
        errors=lambda draw: [
            ErrorInput(np.ones((2, 3, 4), int), error=type_check.InvalidType, match="kind == f"),
            ErrorInput(_f(2, 3, 4), _f(2), error=type_check.InvalidType, match=r"shape\[1\] =="),
        ],
    ),
    OpSpec(
        "rms_normalization",
        reference=lambda x, gamma, eps=1e-6, offset=0.0: (
            x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * (gamma + offset)
        ),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((3,))),
            Sample(draw((2, 3, 4)), draw((4,)), eps=0.1),
            Sample(draw((4,)), draw((4,))),
            Sample(draw((2, 3)), draw((3,)), offset=1.0),
            Sample(draw((0, 3)), draw((3,)), kind="empty"),
        ],
        tolerances=_HALF,
        errors=lambda draw: [
            ErrorInput(_f(2, 3), _f(2), error=type_check.InvalidType, match=r"shape\[-1\] =="),
            ErrorInput(_f(2, 3), _f(3).astype("d"), error=type_check.InvalidType, match="dtype"),
        ],
    ),
)
