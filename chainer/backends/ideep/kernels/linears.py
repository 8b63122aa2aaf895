"""Kernel of the affine transformation."""

from __future__ import annotations

from typing import Any

from chainer.backends.ideep.kernels._base import IdeepKernel


class LinearKernel(IdeepKernel):
    """Kernel of ``linear``."""

    def forward(self, x: Any, W: Any, b: Any) -> Any:
        return self.ops.linear(x, W, b)

    def backward_data(self, gy: Any, W: Any) -> Any:
        return self.ops.linear_backward_data(W, gy)

    def backward_weight(self, x: Any, gy: Any, dtype: Any) -> Any:
        return self.ops.linear_backward_weights(x, gy)[0]
