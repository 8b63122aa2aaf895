"""Array manipulations."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils.type_check import InvalidType
from chainer.plugins.testing.op_spec import BadSample, OpSpec, Sample

SPECS = (
    OpSpec(
        "reshape",
        reference=lambda x, shape: np.reshape(x, shape),
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), shape=(4, 6)),
            Sample(draw((2, 3, 4)), shape=(-1, 2)),
            Sample(draw((1,)), shape=()),
            Sample(draw(()), shape=(1, 1), kind="zero-dim"),
            Sample(draw((0, 3)), shape=(3, 0), kind="empty"),
        ],
        errors=lambda draw: [
            BadSample(draw((2, 3)).astype("f"), shape=(4, 2), error=InvalidType, match="Reshape"),
            BadSample(draw((2, 3)).astype("f"), shape=(-1, 4), error=InvalidType, match="Reshape"),
        ],
    ),
    OpSpec(
        "broadcast_to",
        reference=lambda x, shape: np.broadcast_to(x, shape),
        samples=lambda draw: [
            Sample(draw((3, 1)), shape=(2, 3, 4)),
            Sample(draw((2, 3)), shape=(2, 3)),
            Sample(draw(()), shape=(2, 2), kind="zero-dim"),
            Sample(draw((1, 3)), shape=(0, 3), kind="empty"),
        ],
        errors=lambda draw: [
            BadSample(
                draw((2, 3)).astype("f"), shape=(2, 4), error=InvalidType, match="BroadcastTo"
            ),
        ],
    ),
)
