"""oneDNN kernel of the affine transformation."""

from __future__ import annotations

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array, DTypeLike


class LinearKernel(IdeepKernel):
    """Kernel of ``linear``."""

    def forward(self, x: Array, W: Array, b: Array, out: Array | None = None) -> Array:
        return self.ops.linear(x, W, b, out=out)

    def backward_data(self, gy: Array, W: Array, out: Array | None = None) -> Array:
        return self.ops.linear_backward_data(W, gy, out=out)

    def backward_weight(
        self, x: Array, gy: Array, dtype: DTypeLike, out: Array | None = None
    ) -> Array:
        return self.ops.linear_backward_weights(x, gy, out=out)[0]
