"""Noise injections other than dropout, and recalculation."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import floats as _f
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _dropconnect(x, W, b=0.0, ratio=0.5, mask=None):
    weights = np.broadcast_to(mask * W / (1 - ratio), (len(x), *W.shape))
    return np.einsum("nij,nj->ni", weights, x.reshape(len(x), W.shape[1])) + b


SPECS = (
    OpSpec(
        "gaussian",
        reference=lambda mean, ln_var, eps: mean + np.exp(ln_var / 2) * eps,
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((3, 4)), eps=draw((3, 4))),
            Sample(draw(()), draw(()), eps=draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), eps=draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.shape == in_types\[1\]\.shape", _f(4, 3), _f(4, 2)),
            invalid_value("eps must have", _f(4, 3), _f(4, 3), eps=_f(4, 2)),
        ],
    ),
    OpSpec(
        "gaussian_random",
        reference=None,
        call=lambda F, mean, ln_var: F.gaussian(mean, ln_var),
        samples=lambda draw: [Sample(draw((3, 4)), draw((3, 4)))],
    ),
    OpSpec(
        "gumbel_softmax",
        reference=None,
        samples=lambda draw: [
            Sample(draw((3, 4)), tau=0.7),
            Sample(draw((2, 3, 2)), tau=2.0, axis=2),
            Sample(draw((0, 3)), kind="empty"),
        ],
    ),
    OpSpec(
        "zoneout",
        reference=None,
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((3, 4)), ratio=0.3),
            Sample(draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0, 3)), draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type("Zoneout", _f(4, 3), _f(4, 2)),
            invalid_value(r"\[0, 1\]", _f(2), _f(2), ratio=1.5),
            invalid_value("train argument is not supported", _f(2), _f(2), train=True),
        ],
    ),
    OpSpec(
        "zoneout_in_test_mode",
        reference=lambda h, x: x,
        call=lambda F, h, x: F.zoneout(h, x),
        samples=lambda draw: [Sample(draw((3, 4)), draw((3, 4)))],
        train=False,
    ),
    OpSpec(
        "simplified_dropconnect",
        reference=_dropconnect,
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((2, 4)), draw((2,)), mask=draw.booleans((3, 2, 4))),
            Sample(draw((3, 2, 2)), draw((2, 4)), ratio=0.3, mask=draw.booleans((2, 4))),
            Sample(draw((0, 4)), draw((2, 4)), mask=draw.booleans((2, 4)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(
                r"prod\(in_types\[0\]\.shape\[1:\]\) == in_types\[1\]\.shape\[1\]",
                _f(4, 3),
                _f(2, 6),
            ),
            invalid_value("ratio", _f(4, 3), _f(2, 3), ratio=1.0),
        ],
    ),
    OpSpec(
        "simplified_dropconnect_random",
        reference=None,
        call=lambda F, *xs, **kwargs: F.simplified_dropconnect(*xs, **kwargs),
        samples=lambda draw: [
            Sample(draw((3, 4)), draw((2, 4)), draw((2,))),
            Sample(draw((3, 4)), draw((2, 4)), use_batchwise_mask=False),
        ],
    ),
    OpSpec(
        "forget",
        reference=lambda x, y: (x * y + x, x * x),
        call=lambda F, x, y: F.forget(lambda x, y: (x * y + x, x * x), x, y),
        covers=("forget",),
        samples=lambda draw: [
            Sample(draw((2, 3)), draw((2, 3))),
            Sample(draw(()), draw(()), kind="zero-dim"),
            Sample(draw((0,)), draw((0,)), kind="empty"),
        ],
        gradient_order=1,
    ),
)
