"""Reference kernel of the gradient hooks of optimizers."""

from __future__ import annotations

from collections.abc import Sequence

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array

#: Parameter, gradient, and the scale of the gradient.
_Entries = Sequence[tuple[Array, Array, float | None]]


class GradientHooksKernel(ReferenceKernel):
    """Reference of ``gradient_hooks``."""

    def weight_decay(self, entries: _Entries, rate: float) -> None:
        """Adds multiples of parameters to their gradients."""
        for param, grad, scale in entries:
            self._add(param * rate, grad, scale)

    def lasso(self, entries: _Entries, rate: float) -> None:
        """Adds multiples of the signs of parameters to their gradients."""
        for param, grad, scale in entries:
            self._add(self.xp.sign(param) * rate, grad, scale)

    def _add(self, change: Array, grad: Array, scale: float | None) -> None:
        if scale is None:
            grad += change.astype(grad.dtype, copy=False)
        else:
            # The hook is defined for the gradient without the loss scale.
            true = grad.astype(change.dtype) / scale
            grad[...] = ((true + change) * scale).astype(grad.dtype, copy=False)

    def clip(self, grads: Sequence[Array], low: float, high: float) -> None:
        """Limits every element to an interval."""
        for grad in grads:
            self.xp.clip(grad, low, high, out=grad)

    def scale(self, grads: Sequence[Array], factor: Array) -> None:
        """Multiplies gradients by an array without dimensions."""
        for grad in grads:
            grad[...] = (grad * factor).astype(grad.dtype, copy=False)

    def sum_of_squares(self, grads: Sequence[Array]) -> Array:
        """Returns the sum of the squares of all elements."""
        totals: Array = 0
        for grad in grads:
            flat = to_compute_dtype(grad).reshape(-1)
            totals = totals + flat.dot(flat)
        return self.xp.asarray(totals)
