"""Reference kernels of activation functions made of straight lines."""

from __future__ import annotations

from typing import Any

from chainer.backends.numpy.kernels.activations import lifted, summed_to
from chainer.core.arrays.kernel import ReferenceKernel


class ClippedReLUKernel(ReferenceKernel):
    """Reference of ``clipped_relu``."""

    def forward(self, x: Any, cap: float) -> tuple[Any, Any]:
        """Returns ``min(max(x, 0), cap)`` and where it is between them."""
        y = self.xp.clip(x, 0, cap)
        inside = self.xp.asarray(y > 0)  # no scalar, which NumPy makes of no dimensions
        inside &= y < cap
        return y, inside

    def backward(self, inside: Any, gy: Any) -> Any:
        """Returns ``gy`` where ``inside``, 0 elsewhere."""
        return self.xp.where(inside, gy, self.xp.zeros((), gy.dtype))


class HardSigmoidKernel(ReferenceKernel):
    """Reference of ``hard_sigmoid``."""

    def forward(self, x: Any) -> Any:
        """Returns ``min(max(0.2 * x + 0.5, 0), 1)``."""
        y = x * 0.2
        y += 0.5
        return self.xp.clip(y, 0, 1)

    def backward(self, x: Any, gy: Any) -> Any:
        """Returns ``0.2 * gy`` where ``-2.5 < x < 2.5``, 0 elsewhere."""
        gx = gy * ((x > -2.5) & (x < 2.5))
        gx *= 0.2
        return gx


class PReLUKernel(ReferenceKernel):
    """Reference of ``prelu``."""

    def forward(self, x: Any, W: Any) -> Any:
        """Returns ``x`` where ``x >= 0``, else ``W * x``."""
        return self.xp.where(x >= 0, x, x * lifted(W, x.ndim))

    def backward(self, x: Any, W: Any, gy: Any, wants_weight: bool) -> tuple[Any, Any]:
        """Returns the gradients of ``x`` and, if wanted, ``W``."""
        gx = gy * self.xp.where(x >= 0, 1, lifted(W, x.ndim)).astype(x.dtype, copy=False)
        gW = summed_to(self.xp.minimum(x, 0) * gy, W) if wants_weight else None
        return gx, gW


class RReLUKernel(ReferenceKernel):
    """Reference of ``rrelu``."""

    def forward(self, x: Any, r: Any) -> Any:
        """Returns ``x`` where ``x >= 0``, else ``r * x``."""
        # Slopes are at most one: of x and r * x the larger one is right.
        return self.xp.maximum(x, x * r)

    def backward(self, x: Any, r: Any, gy: Any) -> Any:
        """Returns ``gy`` where ``x >= 0``, else ``r * gy``."""
        return gy * (r + (1 - r) * (x >= 0))


class CReLUKernel(ReferenceKernel):
    """Reference of ``crelu``."""

    def forward(self, x: Any, axis: int) -> Any:
        """Returns ``max(x, 0)`` and ``max(-x, 0)`` side by side."""
        axis %= x.ndim
        n = x.shape[axis]
        y = self.xp.empty((*x.shape[:axis], 2 * n, *x.shape[axis + 1 :]), dtype=x.dtype)
        positive, negative = _halves(y, axis)
        self.xp.maximum(x, 0, out=positive)
        self.xp.maximum(-x, 0, out=negative)
        return y

    def backward(self, x: Any, gy: Any, axis: int) -> Any:
        """Returns the gradient of ``x``."""
        positive, negative = _halves(gy, axis % x.ndim)
        gx = positive * (x > 0)
        gx -= negative * (x < 0)
        return gx


def _halves(y: Any, axis: int) -> tuple[Any, Any]:
    n = y.shape[axis] // 2
    before = (slice(None),) * axis
    return y[(*before, slice(None, n))], y[(*before, slice(n, None))]
