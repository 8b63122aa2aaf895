"""Reference kernel of dropout."""

from __future__ import annotations

from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class DropoutKernel(ReferenceKernel):
    """Dropout by a mask of uniform random numbers."""

    def forward(self, x: Array, ratio: float) -> tuple[Array, Array]:
        xp = self.xp
        # The generator is called as in earlier releases, so that a seed gives the same masks.
        kept = xp.random.rand(*x.shape) >= ratio
        # asarray, because NumPy returns a scalar for an array without dimensions.
        mask = xp.asarray(xp.multiply(kept, x.dtype.type(1.0 / (1 - ratio))))
        return x * mask, mask

    def backward(self, gy: Array, mask: Array) -> Array:
        return gy * mask
