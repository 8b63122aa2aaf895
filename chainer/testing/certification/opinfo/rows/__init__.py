"""The functions that PyTorch and Chainer both have."""

from __future__ import annotations

from chainer.testing.certification.opinfo.rows import (
    elementwise,
    linear_algebra,
    losses,
    networks,
    reductions,
    shapes,
)

#: All rows.
ROWS = (
    *elementwise.ROWS,
    *reductions.ROWS,
    *shapes.ROWS,
    *linear_algebra.ROWS,
    *networks.ROWS,
    *losses.ROWS,
)
