"""Reference kernel of dropout."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.kernel import ReferenceKernel


class DropoutKernel(ReferenceKernel):
    """Dropout by a mask of uniform random numbers."""

    def forward(self, x: Any, ratio: float) -> tuple[Any, Any]:
        xp = self.xp
        kept = xp.random.rand(*x.shape) >= ratio
        mask = xp.asarray(xp.multiply(kept, x.dtype.type(1.0 / (1 - ratio))))
        return x * mask, mask

    def backward(self, gy: Any, mask: Any) -> Any:
        return gy * mask
