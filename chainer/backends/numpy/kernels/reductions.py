"""Reference kernel of sums over axes."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.kernel import ReferenceKernel


class AxesSumKernel(ReferenceKernel):
    """Sum over axes."""

    def forward(self, x: Any, axis: Any, keepdims: bool) -> Any:
        return self.xp.asarray(x.sum(axis=axis, keepdims=keepdims))
