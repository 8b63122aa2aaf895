"""Reductions over axes, and cumulative sums."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import ErrorInput, OpSpec, Sample
from chainer.testing.specs import formulas
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _refusals(several=True):
    bad = [
        invalid_type("dtype.kind == f", np.arange(3)),
        invalid_type("ndim > 2", np.ones((2, 3), "f"), axis=2),
        ErrorInput(np.ones((2, 3), "f"), axis="0", error=TypeError, match="None"),
    ]
    if several:
        bad += [
            invalid_value("duplicate", np.ones((2, 3), "f"), axis=(0, 0)),
            invalid_type("ndim > 2", np.ones((2, 3), "f"), axis=(0, 2)),
        ]
    return bad


def _reduction(name, reference, values="__call__", keepdims=True, empty=True, **kwargs):
    """A reduction over any axes."""

    def samples(draw):
        make = getattr(draw, values)
        found = [
            Sample(make((2, 3, 4))),
            Sample(make((2, 3, 4)), axis=1),
            Sample(make((2, 3, 4)), axis=(0, -1)),
            Sample(make((2, 3, 4)), axis=-1),
            Sample(make(()), kind="zero-dim"),
            Sample(make((0, 3)), axis=1, kind="empty"),
        ]
        if keepdims:
            found += [
                Sample(make((2, 3, 4)), axis=(2, 0), keepdims=True),
                Sample(make((2, 3)), keepdims=True),
            ]
        return found

    return OpSpec(
        name, reference=reference, samples=samples, errors=lambda draw: _refusals(), **kwargs
    )


def _average(x, axis=None, weights=None, keepdims=False):
    if weights is None:
        return np.mean(x, axis, keepdims=keepdims)
    return np.average(x, axis, weights, keepdims=keepdims)


SPECS = (
    # Without ties, where the gradient would not be defined.
    _reduction("max", np.max, "distinct"),
    _reduction("min", np.min, "distinct"),
    # Far from zero: the gradient divides by the elements.
    _reduction("prod", np.prod, "positive"),
    _reduction("logsumexp", formulas.logsumexp, keepdims=False),
    *[
        OpSpec(
            name,
            reference=lambda x, axis=None, name=name: getattr(np, name)(x, axis),
            samples=lambda draw: [
                Sample(draw.distinct((2, 3, 4))),
                Sample(draw.distinct((2, 3, 4)), axis=1),
                Sample(draw.distinct((2, 3, 4)), axis=-1),
                Sample(draw.distinct(()), kind="zero-dim"),
                Sample(draw.distinct((0, 3)), axis=1, kind="empty"),
            ],
            errors=lambda draw: _refusals(several=False),
            # The results are integers.
            gradient_order=0,
        )
        for name in ("argmax", "argmin")
    ],
    OpSpec(
        "average",
        reference=_average,
        covers=("average", "mean"),
        samples=lambda draw: [
            Sample(draw((2, 3, 4))),
            Sample(draw((2, 3, 4)), axis=1),
            Sample(draw((2, 3, 4)), axis=(0, -1), keepdims=True),
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("dtype.kind == f", np.arange(3)),
            # An InvalidType that is an IndexError, too, as the releases raise it here.
            ErrorInput(np.ones((2, 3), "f"), axis=2, error=IndexError, match="ndim > 2"),
            ErrorInput(np.ones((2, 3), "f"), axis="0", error=TypeError, match="None"),
            invalid_value("duplicate", np.ones((2, 3), "f"), axis=(0, 0)),
        ],
    ),
    OpSpec(
        "average_weighted",
        reference=lambda x, w, axis=None, keepdims=False: _average(x, axis, w, keepdims),
        call=lambda F, x, w, axis=None, keepdims=False: F.average(x, axis, w, keepdims),
        covers=("average", "mean"),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw.positive((2, 3))),
            Sample(draw((2, 3, 4)), draw.positive((3,)), axis=1),
            Sample(draw((2, 3, 4)), draw.positive((4,)), axis=-1, keepdims=True),
            Sample(draw((0, 3)), draw.positive((3,)), axis=1, kind="empty"),
        ],
        errors=lambda draw: [
            invalid_value(
                "tuple axis is not supported",
                np.ones((2, 3), "f"),
                np.ones((2, 3), "f"),
                axis=(0, 1),
            ),
            invalid_type("Reshape", np.ones((2, 3), "f"), np.ones(3, "f"), axis=0),
        ],
    ),
    OpSpec(
        "cumsum",
        reference=lambda x, axis=None: np.cumsum(x, axis),
        samples=lambda draw: [
            Sample(draw((2, 3))),
            *[Sample(draw((2, 3, 4)), axis=axis) for axis in (0, 1, -1)],
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), axis=1, kind="empty"),
        ],
        errors=lambda draw: _refusals(several=False)[:2],
    ),
    OpSpec(
        "cumprod",
        reference=lambda x, axis=None: np.cumprod(x, axis),
        samples=lambda draw: [
            Sample(draw((2, 3))),
            # The simple formula of the gradient divides by the elements.
            Sample(np.array([0.5, 0.0, -2.0, 0.0, 1.5]), label="zeros"),
            *[Sample(draw((2, 3, 4)), axis=axis) for axis in (0, 1, -1)],
            Sample(draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), axis=1, kind="empty"),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: _refusals(several=False)[:2],
    ),
    OpSpec(
        "batch_l2_norm_squared",
        reference=lambda x: np.sum(x.reshape(len(x), int(np.prod(x.shape[1:]))) ** 2, axis=1),
        samples=lambda draw: [
            Sample(draw((2, 3))),
            Sample(draw((2, 3, 4))),
            Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [invalid_type("ndim >= 2", np.ones(3, "f"))],
    ),
)
