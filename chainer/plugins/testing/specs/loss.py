"""Loss functions."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils.type_check import InvalidType
from chainer.plugins.testing.op_spec import BadSample, OpSpec, Sample


def _softmax_cross_entropy(
    x, t, normalize=True, class_weight=None, ignore_label=-1, reduce="mean", **_
):
    log_p = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    if class_weight is not None:
        log_p = log_p * class_weight.reshape(1, -1, *[1] * (x.ndim - 2))
    kept = t != ignore_label
    chosen = np.take_along_axis(log_p, np.where(kept, t, 0)[:, None], axis=1)[:, 0]
    losses = np.where(kept, -chosen, 0.0)
    if reduce == "no":
        return losses
    count = kept.sum() if normalize else len(x)
    return losses.sum() / max(count, 1)


def _cross_entropy_samples(draw):
    labels = np.array([0, 2, -1, 1], np.int32)
    return [
        Sample(draw((4, 3), -2, 2), draw.integers((4,), 0, 3)),
        Sample(draw((4, 3)), labels, label="ignored label"),
        Sample(draw((4, 3)), labels, normalize=False),
        Sample(draw((4, 3)), labels, reduce="no"),
        Sample(draw((4, 3)), labels, class_weight=draw.positive((3,))),
        Sample(draw((4, 3)), np.array([0, 2, 1, 1], np.int32), ignore_label=2),
        Sample(draw((2, 3, 2)), draw.integers((2, 2), -1, 3)),
        Sample(draw((2, 3, 2)), draw.integers((2, 2), -1, 3), normalize=False, reduce="no"),
        Sample(np.zeros((0, 3)), np.zeros((0,), np.int32), kind="empty"),
    ]


def _f(*shape):
    return np.ones(shape, np.float32)


SPECS = (
    OpSpec(
        "softmax_cross_entropy",
        reference=_softmax_cross_entropy,
        samples=_cross_entropy_samples,
        gradient_order=1,
        errors=lambda draw: [
            BadSample(
                _f(2, 3),
                np.zeros(3, np.int32),
                error=InvalidType,
                match=r"in_types\[0\]\.shape\[0\] == in_types\[1\]\.shape\[0\]",
            ),
            BadSample(_f(2, 3), _f(2), error=InvalidType, match=r"in_types\[1\]\.dtype\.kind == i"),
            BadSample(
                _f(2, 3),
                np.zeros(2, np.int32),
                reduce="invalid",
                error=ValueError,
                match="only 'mean' and 'no' are valid for 'reduce', but 'invalid' is given",
            ),
            BadSample(
                _f(2, 3),
                np.zeros(2, np.int32),
                class_weight=_f(3, 1),
                error=ValueError,
                match=r"class_weight\.ndim should be 1",
            ),
        ],
    ),
    OpSpec(
        "softmax_cross_entropy_without_cache",
        reference=_softmax_cross_entropy,
        call=lambda F, x, t, **kwargs: F.softmax_cross_entropy(x, t, cache_score=False, **kwargs),
        samples=_cross_entropy_samples,
        gradient_order=1,
    ),
    OpSpec(
        "softmax_cross_entropy_double_backprop",
        reference=_softmax_cross_entropy,
        call=lambda F, x, t, **kwargs: F.softmax_cross_entropy(
            x, t, enable_double_backprop=True, **kwargs
        ),
        samples=_cross_entropy_samples,
    ),
)
