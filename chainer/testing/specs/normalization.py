"""Normalization functions."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type


def _statistics(x, gamma):
    """Batch mean and variance, and how to broadcast an array of the shape of the channels."""
    axis = (0, *range(1 + gamma.ndim, x.ndim))
    shape = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
    count = x.size // gamma.size
    return x.mean(axis=axis), x.var(axis=axis), shape, count


def _batch_normalization(x, gamma, beta, eps=2e-5):
    mean, var, shape, _ = _statistics(x, gamma)
    normalized = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + eps)
    return gamma.reshape(shape) * normalized + beta.reshape(shape)


def _running_statistics(x, gamma, beta, running_mean, running_var, decay=0.9):
    mean, var, _, count = _statistics(x, gamma)
    unbiased = var * count / max(count - 1, 1)
    return (
        _batch_normalization(x, gamma, beta),
        decay * running_mean + (1 - decay) * mean,
        decay * running_var + (1 - decay) * unbiased,
    )


def _with_running_statistics(F, x, gamma, beta, running_mean, running_var, **kwargs):
    y = F.batch_normalization(
        x, gamma, beta, running_mean=running_mean, running_var=running_var, **kwargs
    )
    return y, running_mean, running_var


SPECS = (
    OpSpec(
        "batch_normalization",
        reference=_batch_normalization,
        samples=lambda draw: [
            Sample(draw((6, 3)), draw((3,)), draw((3,))),
            Sample(draw((3, 2, 2, 3)), draw((2,)), draw((2,)), eps=0.1),
            Sample(draw((4, 2, 3)), draw((2, 3)), draw((2, 3))),
        ],
        tolerances={"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))},
        errors=lambda draw: [
            invalid_type(
                r"in_types\[0\]\.shape\[1:2\] == in_types\[1\]\.shape", _f(2, 3), _f(4), _f(3)
            ),
            invalid_type(r"in_types\[0\]\.ndim >= in_types\[1\]\.ndim \+ 1", _f(3), _f(3), _f(3)),
            ErrorInput(_f(2, 3), _f(3), _f(3), nonsense=1, error=TypeError, match="nonsense"),
        ],
    ),
    OpSpec(
        "batch_normalization_running_statistics",
        reference=_running_statistics,
        call=_with_running_statistics,
        samples=lambda draw: [
            Sample(
                draw((6, 3)),
                draw((3,)),
                draw((3,)),
                running_mean=draw((3,)),
                running_var=draw.positive((3,)),
                decay=0.7,
            )
        ],
        constant_outputs=(1, 2),
        tolerances={"float16": Tolerance((2e-2, 2e-2), (1e-1, 1e-1), (5e-1, 5e-1))},
    ),
)
