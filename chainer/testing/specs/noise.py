"""Noise injections."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.inputs import invalid_type, invalid_value


def _dropout_samples(draw):
    return [
        Sample(draw((3, 4)), ratio=0.3),
        Sample(draw((2, 3, 2))),
        Sample(draw(()), kind="zero-dim"),
        Sample(draw((0, 3)), kind="empty"),
    ]


SPECS = (
    OpSpec(
        "dropout",
        reference=lambda x, mask, ratio=0.5: x * mask,
        samples=lambda draw: [
            Sample(draw((3, 4)), mask=draw.booleans((3, 4)) / 0.7, ratio=0.3),
            Sample(draw(()), mask=np.array(2.0), kind="zero-dim"),
            Sample(draw((0, 3)), mask=np.zeros((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            invalid_type(r"in_types\[0\]\.dtype\.kind == f", np.ones((2, 3), "i")),
            invalid_value(r"\[0, 1\)", draw((2, 3)), ratio=1.0),
            invalid_value(r"\[0, 1\)", draw((2, 3)), ratio=-0.1),
            invalid_value(
                r"train argument is not supported anymore. Use chainer.using_config",
                draw((2, 3)),
                train=True,
            ),
        ],
    ),
    OpSpec(
        "dropout_random",
        reference=None,
        call=lambda F, x, **kwargs: F.dropout(x, **kwargs),
        samples=_dropout_samples,
    ),
    OpSpec(
        "dropout_in_test_mode",
        reference=lambda x, ratio=0.5: x,
        call=lambda F, x, **kwargs: F.dropout(x, **kwargs),
        samples=_dropout_samples,
        train=False,
    ),
)
