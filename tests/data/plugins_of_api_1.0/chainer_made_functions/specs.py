"""Rows of Chainer's operation-spec table: what the function computes, and on which inputs."""

import numpy as np
from chainer.testing import op_spec
from chainer.utils import type_check

from chainer_made_functions.softcap import softcap

SPECS = [
    op_spec.OpSpec(
        "softcap",
        call=lambda F, x, cap=30.0: softcap(x, cap),
        reference=lambda x, cap=30.0: cap * np.tanh(x / cap),
        samples=lambda draw: [
            op_spec.Sample(draw((2, 3))),
            op_spec.Sample(draw((4, 1, 3), -3, 3), cap=1.5),
            op_spec.Sample(draw(()), kind="zero-dim"),
            op_spec.Sample(draw((0, 3)), kind="empty"),
        ],
        errors=lambda draw: [
            op_spec.ErrorInput(
                np.arange(3), error=type_check.InvalidType, match=r"in_types\[0\]\.dtype\.kind == f"
            ),
            op_spec.ErrorInput(
                draw((3,)), cap=0.0, error=ValueError, match="cap must be positive, got 0.0"
            ),
        ],
    )
]
