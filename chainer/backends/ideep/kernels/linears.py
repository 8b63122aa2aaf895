"""oneDNN kernel of the affine transformation."""

from __future__ import annotations

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array, DTypeLike


class LinearKernel(IdeepKernel):
    """Kernel of ``linear``."""

    def forward(self, x: Array, W: Array, b: Array) -> Array:
        return self.ops.linear(x, W, b)

    def backward_data(self, gy: Array, W: Array) -> Array:
        return self.ops.linear_backward_data(W, gy)

    def backward_weight(self, x: Array, gy: Array, dtype: DTypeLike) -> Array:
        return self.ops.linear_backward_weights(x, gy)[0]
