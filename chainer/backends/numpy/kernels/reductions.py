"""Reference kernel of sums over axes."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class AxesSumKernel(ReferenceKernel):
    """Sum over axes."""

    def forward(self, x: Array, axis: Any, keepdims: bool) -> Array:
        return self.xp.asarray(x.sum(axis=axis, keepdims=keepdims))
