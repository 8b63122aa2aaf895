"""Normalizations of groups of channels."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value

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


def _rows(x):
    """Channels as rows of all their elements."""
    return np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)


def _whitened(x, groups, eps=2e-5):
    """The inverse root of the covariance by Denman's and Beavers' iteration, group by group."""
    if x.size == 0:
        return x
    parts = []
    for part in np.split(x, groups, axis=1):
        rows = _rows(part)
        rows = rows - rows.mean(axis=1, keepdims=True)
        root = rows @ rows.T / rows.shape[1] + eps * np.eye(len(rows))
        inverse = np.eye(len(rows))
        for _ in range(60):
            root, inverse = (root + np.linalg.inv(inverse)) / 2, (inverse + np.linalg.inv(root)) / 2
        shape = (part.shape[1], part.shape[0], *part.shape[2:])
        parts.append(np.moveaxis((inverse @ rows).reshape(shape), 0, 1))
    return np.concatenate(parts, axis=1)


def _projected(x, mean, projection, groups=16):
    parts = []
    for part, center, matrix in zip(np.split(x, groups, axis=1), mean, projection):
        rows = matrix @ (_rows(part) - center[:, None])
        shape = (part.shape[1], part.shape[0], *part.shape[2:])
        parts.append(np.moveaxis(rows.reshape(shape), 0, 1))
    return np.concatenate(parts, axis=1)


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
            invalid_value(
                "number of channels 4 is not divisible by 'groups' argument 3",
                _f(2, 4, 3),
                _f(4),
                _f(4),
                groups=3,
            ),
            invalid_type(r"shape\[1\] ==", _f(2, 4, 3), _f(3), _f(3), groups=1),
            invalid_type("ndim >= 2", _f(4), _f(4), _f(4), groups=2),
            invalid_value("positive, got 0", _f(2, 4, 3), _f(4), _f(4), groups=0),
            ErrorInput(
                _f(2, 4, 3),
                _f(4),
                _f(4),
                groups=2.0,
                error=TypeError,
                match="'groups' type must be .int., got float",
            ),
        ],
    ),
    OpSpec(
        "decorrelated_batch_normalization",
        reference=_whitened,
        samples=lambda draw: [
            Sample(draw((5, 4, 3)), groups=2, eps=0.1),
            Sample(draw((7, 3)), groups=1, eps=0.1),
            Sample(draw((4, 2, 2, 2)), groups=2, eps=0.05),
            Sample(draw((0, 4, 3)), groups=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"x\.shape\[1\] % 3 == 0", _f(2, 4, 3), groups=3),
            invalid_type(r"x\.ndim >= 2", _f(4), groups=2),
            invalid_type("kind == f", np.ones((2, 4), int), groups=2),
            invalid_value("groups must be positive, got 0", _f(2, 4), groups=0),
            ErrorInput(_f(2, 4), groups=2.0, error=TypeError, match="groups must be int"),
            ErrorInput(_f(2, 4), axis=0, error=TypeError, match="axis"),
        ],
        tolerances=_HALF,
        gradient_order=1,
    ),
    OpSpec(
        "fixed_decorrelated_batch_normalization",
        reference=_projected,
        samples=lambda draw: [
            Sample(draw((3, 4, 2)), draw((2, 2)), draw((2, 2, 2)), groups=2),
            Sample(draw((3, 4)), draw((1, 4)), draw((1, 4, 4)), groups=1),
            Sample(draw((1, 16, 2)), draw((16, 1)), draw((16, 1, 1)), label="16 groups"),
            Sample(draw((0, 4, 2)), draw((2, 2)), draw((2, 2, 2)), groups=2, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"mean\.shape == \(2, 2\)", _f(2, 4), _f(4, 1), _f(2, 2, 2), groups=2),
            invalid_type(
                r"mean\.dtype == x\.dtype", _f(2, 4), np.ones((2, 2)), _f(2, 2, 2), groups=2
            ),
        ],
        tolerances=_HALF,
    ),
)
