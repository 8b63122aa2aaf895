"""Normalizations."""

from __future__ import annotations

import numpy as np

from chainer.testing import ErrorInput, OpSpec, Sample, Tolerance
from chainer.utils import type_check

_HALF = {"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))}


def _per_channel(vector, x):
    return vector.reshape((-1,) + (1,) * (x.ndim - 2))


def _group(x, gamma, beta, groups, eps=1e-5):
    parts = []
    for part in np.split(x, groups, axis=1):
        axes = tuple(range(1, x.ndim))
        mean, var = part.mean(axis=axes, keepdims=True), part.var(axis=axes, keepdims=True)
        parts.append((part - mean) / np.sqrt(var + eps))
    y = np.concatenate(parts, axis=1)
    return y * _per_channel(gamma, x) + _per_channel(beta, x)


def _instance(x, gamma=None, beta=None, eps=1e-5):
    gamma = np.ones(x.shape[1]) if gamma is None else gamma
    beta = np.zeros(x.shape[1]) if beta is None else beta
    return _group(x, gamma, beta, x.shape[1], eps)


def _f(*shape):
    return np.ones(shape, np.float32)


SPECS = (
    OpSpec(
        "group_normalization",
        reference=_group,
        samples=lambda draw: [
            Sample(draw((2, 4, 3, 2)), draw((4,)), draw((4,)), groups=2),
            Sample(draw((3, 6)), draw((6,)), draw((6,)), groups=2, eps=0.1),
            Sample(draw((2, 3, 5)), draw((3,)), draw((3,)), groups=1),
            Sample(draw((2, 3, 5)), draw((3,)), draw((3,)), groups=3),
            Sample(draw((0, 4, 3)), draw((4,)), draw((4,)), groups=2, kind="empty"),
        ],
        call=lambda F, x, gamma, beta, groups, eps=1e-5: F.group_normalization(
            x, groups, gamma, beta, eps
        ),
        covers=("group_normalization",),
        tolerances=_HALF,
        errors=lambda draw: [
            ErrorInput(
                _f(2, 4, 3),
                _f(4),
                _f(4),
                groups=3,
                error=type_check.InvalidType,
                match=r"shape\[1\] % 3 == 0",
            ),
            ErrorInput(
                _f(2, 4, 3),
                _f(3),
                _f(3),
                groups=1,
                error=type_check.InvalidType,
                match=r"shape\[1\] ==",
            ),
            ErrorInput(
                _f(4), _f(4), _f(4), groups=2, error=type_check.InvalidType, match="ndim >= 2"
            ),
            ErrorInput(
                _f(2, 4, 3),
                _f(4),
                _f(4),
                groups=0,
                error=ValueError,
                match="positive, got 0",
            ),
            ErrorInput(
                _f(2, 4, 3),
                _f(4),
                _f(4),
                groups=2.0,
                error=TypeError,
                match="must be int, got float",
            ),
        ],
    ),
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
        reference=lambda x, gamma, eps=1e-6: (
            x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * gamma
        ),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((3,))),
            Sample(draw((2, 3, 4)), draw((4,)), eps=0.1),
            Sample(draw((4,)), draw((4,))),
            Sample(draw((0, 3)), draw((3,)), kind="empty"),
        ],
        tolerances=_HALF,
        errors=lambda draw: [
            ErrorInput(_f(2, 3), _f(2), error=type_check.InvalidType, match=r"shape\[-1\] =="),
            ErrorInput(_f(2, 3), _f(3).astype("d"), error=type_check.InvalidType, match="dtype"),
        ],
    ),
)
