"""Normalization functions other than that with the statistics of the batch."""

# pyright: basic
from __future__ import annotations

import warnings

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _channels(x, gamma, axis=None):
    """Axes to average over, and the shape in which a parameter broadcasts."""
    if axis is None:
        axis = (0, *range(1 + gamma.ndim, x.ndim))
    axis = axis if isinstance(axis, tuple) else (axis,)
    return axis, tuple(1 if i in axis else n for i, n in enumerate(x.shape))


def _fixed(x, gamma, beta, mean, var, eps=2e-5, axis=None):
    _, shape = _channels(x, gamma, axis)
    gamma, beta, mean, var = (p.reshape(shape) for p in (gamma, beta, mean, var))
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def _over_axes(x, gamma, beta, axis, eps=2e-5):
    return _fixed(x, gamma, beta, x.mean(axis=axis), x.var(axis=axis), eps, axis)


def _renormalization(x, gamma, beta, rmax, dmax, running_mean, running_var, eps=2e-5):
    axis, shape = _channels(x, gamma)
    mean, std = x.mean(axis=axis), np.sqrt(x.var(axis=axis) + eps)
    running_std = np.sqrt(running_var + eps)
    r = np.clip(std / running_std, 1 / rmax, rmax)
    d = np.clip((mean - running_mean) / running_std, -dmax, dmax)
    gamma, beta, mean, std, r, d = (p.reshape(shape) for p in (gamma, beta, mean, std, r, d))
    return gamma * ((x - mean) / std * r + d) + beta


def _layer(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def _response(x, n=5, k=2, alpha=1e-4, beta=0.75):
    y = np.empty_like(x)
    for i in range(x.shape[1]):
        near = x[:, max(0, i - n // 2) : i + n // 2 + 1]
        y[:, i] = x[:, i] / (k + alpha * (near**2).sum(axis=1)) ** beta
    return y


def _normalize(x, eps=1e-5, axis=1):
    return x / (np.sqrt((x**2).sum(axis=axis, keepdims=True)) + eps)


def _deprecated(name):
    """Calls a function that warns of its deprecation."""

    def call(F, *xs, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return getattr(F, name)(*xs, **kwargs)

    return call


_ROUGH = {"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))}

SPECS = (
    OpSpec(
        "batch_normalization_axis",
        reference=_over_axes,
        call=lambda F, *xs, **kwargs: F.batch_normalization(*xs, **kwargs),
        samples=lambda draw: [
            Sample(draw((4, 3)), draw((4,)), draw((4,)), axis=1, eps=0.1),
            Sample(draw((3, 2, 2, 3)), draw((2, 3)), draw((2, 3)), axis=(0, 2), eps=0.1),
            Sample(draw((3, 2, 3)), draw((3,)), draw((3,)), axis=(0, 1), eps=0.1),
        ],
        tolerances=_ROUGH,
        errors=lambda draw: [
            ErrorInput(_f(4, 3), _f(3), _f(3), axis=(1, 0), error=RuntimeError, match="ascending"),
            invalid_type(
                r"in_types\[0\]\.shape\[1\] == in_types\[1\]\.shape\[0\]",
                _f(4, 3, 2),
                _f(4),
                _f(4),
                axis=(0, 2),
            ),
            invalid_value("running_var is None", _f(4, 3), _f(3), _f(3), running_mean=_f(3)),
        ],
    ),
    OpSpec(
        "fixed_batch_normalization",
        reference=_fixed,
        samples=lambda draw: [
            Sample(draw((4, 3)), *[draw((3,)) for _ in range(3)], draw.positive((3,))),
            Sample(
                draw((2, 3, 2, 2)), *[draw((3,)) for _ in range(3)], draw.positive((3,)), eps=0.1
            ),
            Sample(
                draw((2, 3, 4)), *[draw((2, 4)) for _ in range(3)], draw.positive((2, 4)), axis=1
            ),
            Sample(
                draw((0, 3)), *[draw((3,)) for _ in range(3)], draw.positive((3,)), kind="empty"
            ),
        ],
        tolerances=_ROUGH,
        errors=lambda draw: [
            invalid_type(
                r"in_types\[3\]\.shape == in_types\[1\]\.shape",
                _f(4, 3),
                _f(3),
                _f(3),
                _f(4),
                _f(3),
            )
        ],
    ),
    OpSpec(
        "batch_renormalization",
        reference=_renormalization,
        samples=lambda draw: [
            # At the limits of both corrections: they are constants of the gradient.
            Sample(
                draw((5, 3)),
                draw((3,)),
                draw((3,)),
                rmax=1.5,
                dmax=0.3,
                running_mean=np.array([5.0, -5.0, 5.0]),
                running_var=np.array([9.0, 0.01, 9.0]),
            ),
            Sample(
                draw((2, 2, 3)),
                draw((2,)),
                draw((2,)),
                rmax=1,
                dmax=0,
                running_mean=draw((2,)),
                running_var=draw.positive((2,)),
            ),
        ],
        tolerances=_ROUGH,
        errors=lambda draw: [
            invalid_type(
                r"(?s)BatchRenormalizationFunction.*shape\[1:2\] == in_types\[1\]\.shape",
                _f(4, 3),
                _f(4),
                _f(4),
                rmax=2.0,
                dmax=3.0,
            ),
            invalid_value("dmax", _f(4, 3), _f(3), _f(3), rmax=1, dmax=-1),
        ],
    ),
    OpSpec(
        "fixed_batch_renormalization",
        reference=_fixed,
        call=_deprecated("fixed_batch_renormalization"),
        covers=("fixed_batch_renormalization",),
        samples=lambda draw: [
            Sample(draw((4, 3)), *[draw((3,)) for _ in range(3)], draw.positive((3,)))
        ],
        tolerances=_ROUGH,
    ),
    OpSpec(
        "layer_normalization",
        reference=_layer,
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((4,)), draw((4,))),
            Sample(draw((2, 5)), draw((5,)), draw((5,)), eps=0.1),
            Sample(draw((2, 3, 1, 4)), draw((4,)), draw((4,)), label="more leading axes"),
            Sample(draw((0, 4)), draw((4,)), draw((4,)), kind="empty"),
            Sample(draw((2, 0, 4)), draw((4,)), draw((4,)), kind="empty"),
        ],
        tolerances=_ROUGH,
        errors=lambda draw: [
            invalid_type(r"(?s)LayerNormalization.*in_types\[0\]\.ndim == 2", _f(3), _f(3), _f(3)),
            invalid_type(r"shape\[1\] == ", _f(4, 3, 2), _f(3), _f(3)),
        ],
    ),
    OpSpec(
        "local_response_normalization",
        reference=_response,
        samples=lambda draw: [
            Sample(draw((2, 7, 2, 2)), alpha=0.5),
            Sample(draw((2, 3)), n=4, k=1, alpha=0.5, beta=0.6),
            Sample(draw((2, 4, 3)), n=3, k=1, alpha=0.5, beta=0.5),
            Sample(draw((2, 1, 3)), alpha=0.5, label="one channel"),
            Sample(draw((0, 3, 2)), kind="empty"),
        ],
        errors=lambda draw: [invalid_type(r"in_types\[0\]\.ndim >= 2", _f(4))],
    ),
    OpSpec(
        "normalize",
        reference=_normalize,
        samples=lambda draw: [
            Sample(draw.away_from((3, 4))),
            Sample(draw.away_from((2, 3, 2)), axis=(0, -1), eps=0.1),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.ndim > 2", _f(4, 3), axis=2),
            invalid_value("duplicate value in 'axis'", _f(4, 3), axis=(1, -1)),
        ],
    ),
)
