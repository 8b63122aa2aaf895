"""Losses."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils import type_check
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample


def _reduced(losses, valid, reduce):
    losses = np.where(valid, losses, 0)
    return losses if reduce == "no" else losses.sum() / max(valid.sum(), 1)


def _log_p(x):
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


def _of_label(values, t):
    return np.take_along_axis(values, np.maximum(t, 0)[:, None], axis=1)[:, 0]


def _smoothed(x, t, smoothing=0.1, ignore_label=-1, reduce="mean"):
    log_p = _log_p(x)
    losses = -(1 - smoothing) * _of_label(log_p, t) - smoothing * log_p.mean(axis=1)
    return _reduced(losses, t != ignore_label, reduce)


def _focal(x, t, gamma=2.0, class_weight=None, ignore_label=-1, reduce="mean"):
    log_p = _of_label(_log_p(x), t)
    losses = -((1 - np.exp(log_p)) ** gamma) * log_p
    if class_weight is not None:
        losses = losses * class_weight[t]
    return _reduced(losses, t != ignore_label, reduce)


def _sigmoid_focal(x, t, gamma=2.0, alpha=0.25, ignore_label=-1, reduce="mean"):
    p = 1 / (1 + np.exp(-x))
    p = np.where(t == 1, p, 1 - p)
    losses = -((1 - p) ** gamma) * np.log(p)
    if alpha is not None:
        losses = losses * np.where(t == 1, alpha, 1 - alpha)
    return _reduced(losses, t != ignore_label, reduce)


def _dice(p, t, eps=1.0, reduce="mean"):
    axes = tuple(range(2, p.ndim))
    losses = 1 - (2 * (p * t).sum(axes) + eps) / (p.sum(axes) + t.sum(axes) + eps)
    return losses if reduce == "no" else losses.mean()


def _class_samples(draw, **kwargs):
    return [
        Sample(draw((4, 3), -2, 2), draw.integers((4,), -1, 3), **kwargs),
        Sample(draw((2, 3, 2)), draw.integers((2, 2), 0, 3), reduce="no", **kwargs),
        Sample(draw((2, 3)), draw.integers((2,), -1, 0), **kwargs),
        Sample(draw((0, 3)), draw.integers((0,), 0, 3), kind="empty", **kwargs),
    ]


def _class_errors(draw):
    x, t = draw((2, 3)).astype("f"), np.zeros(2, np.int32)
    return [
        ErrorInput(x.astype(int), t, error=type_check.InvalidType, match="kind == f"),
        ErrorInput(x, t.astype("f"), error=type_check.InvalidType, match="kind == i"),
        ErrorInput(x, t[:1], error=type_check.InvalidType, match=r"shape\[0\] =="),
        ErrorInput(x, t, reduce="sum", error=ValueError, match="'sum' is given"),
    ]


SPECS = (
    OpSpec(
        "label_smoothed_cross_entropy",
        reference=_smoothed,
        samples=lambda draw: [
            *_class_samples(draw),
            Sample(draw((2, 3)), draw.integers((2,), 0, 3), smoothing=0.0),
            Sample(draw((2, 3)), draw.integers((2,), 0, 3), smoothing=0.5, ignore_label=1),
        ],
        errors=lambda draw: [
            *_class_errors(draw),
            ErrorInput(
                draw((2, 3)),
                np.zeros(2, int),
                smoothing=1.5,
                error=ValueError,
                match="smoothing must be from 0 to 1, got 1.5",
            ),
        ],
    ),
    OpSpec(
        "focal_loss",
        reference=_focal,
        samples=lambda draw: [
            *_class_samples(draw),
            Sample(draw((2, 3)), draw.integers((2,), 0, 3), gamma=0.0),
            Sample(draw((2, 3)), draw.integers((2,), 0, 3), gamma=1.5),
            Sample(draw((2, 3)), draw.integers((2,), 0, 3), class_weight=draw.positive((3,))),
        ],
        errors=lambda draw: [
            *_class_errors(draw),
            ErrorInput(
                draw((2, 3)), np.zeros(2, int), gamma=-1.0, error=ValueError, match="gamma must not"
            ),
            ErrorInput(
                draw((2, 3)),
                np.zeros(2, int),
                class_weight=np.ones(2),
                error=ValueError,
                match=r"class_weight must have the shape \(3,\), got \(2,\)",
            ),
        ],
    ),
    OpSpec(
        "sigmoid_focal_loss",
        reference=_sigmoid_focal,
        samples=lambda draw: [
            Sample(draw((3, 4), -3, 3), draw.integers((3, 4), -1, 2)),
            Sample(draw((3,)), draw.integers((3,), 0, 2), reduce="no", alpha=None),
            Sample(draw((3,)), draw.integers((3,), 0, 2), gamma=0.5, alpha=0.9),
            Sample(draw(()), draw.integers((), 0, 2), kind="zero-dim"),
            Sample(draw((0,)), draw.integers((0,), 0, 2), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(
                draw((3,)), np.zeros(2, int), error=type_check.InvalidType, match="shape =="
            ),
            ErrorInput(draw((3,)), draw((3,)), error=type_check.InvalidType, match="kind == i"),
            ErrorInput(
                draw((3,)), np.zeros(3, int), alpha=2.0, error=ValueError, match="alpha must be"
            ),
            ErrorInput(
                draw((3,)), np.zeros(3, int), gamma=-0.5, error=ValueError, match="gamma must not"
            ),
        ],
    ),
    OpSpec(
        "dice_loss",
        reference=_dice,
        samples=lambda draw: [
            Sample(draw.positive((2, 3, 4), 0, 1), draw.booleans((2, 3, 4))),
            Sample(draw.positive((2, 1, 3, 2), 0, 1), draw((2, 1, 3, 2), 0, 1), reduce="no"),
            Sample(draw.positive((1, 1, 3), 0.1, 1), draw.integers((1, 1, 3), 0, 2), eps=0.1),
            Sample(draw((1, 2, 0)), draw.booleans((1, 2, 0)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(draw((2, 3)), np.ones((2, 3)), error=ValueError, match=r"\(N, C, \.\.\.\)"),
            ErrorInput(
                draw((2, 1, 3)), np.ones((2, 1, 4)), error=ValueError, match="must have the same"
            ),
            ErrorInput(
                draw((2, 1, 3)), np.ones((2, 1, 3)), eps=-1.0, error=ValueError, match="eps must"
            ),
        ],
    ),
)
