"""Reference kernels of softmax and its logarithm."""

from __future__ import annotations

from typing import Any

from chainer.core.kernel import ReferenceKernel


class SoftmaxKernel(ReferenceKernel):
    """Softmax; the maximum is subtracted, so that nothing overflows."""

    def forward(self, x: Any, axis: int) -> Any:
        if x.size == 0:
            return self.xp.zeros_like(x)
        y = x - x.max(axis=axis, keepdims=True)
        self.xp.exp(y, out=y)
        y /= y.sum(axis=axis, keepdims=True)
        return y

    def backward(self, y: Any, gy: Any, axis: int) -> Any:
        gx = y * gy
        gx -= y * gx.sum(axis=axis, keepdims=True)
        return gx


class LogSoftmaxKernel(ReferenceKernel):
    """Logarithm of softmax; the maximum is subtracted, so that nothing overflows."""

    def forward(self, x: Any, axis: int) -> Any:
        if x.size == 0:
            return self.xp.zeros_like(x)
        y = x - x.max(axis=axis, keepdims=True)
        y -= self.xp.log(self.xp.exp(y).sum(axis=axis, keepdims=True))
        return y

    def backward(self, y: Any, gy: Any, axis: int) -> Any:
        gx = self.xp.exp(y)
        gx *= gy.sum(axis=axis, keepdims=True)
        return gy - gx
