"""Reference kernel of changes of gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array

_Entries = Sequence[tuple[Any, Any, float | None]]


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
            true = grad.astype(change.dtype) / scale
            grad[...] = ((true + change) * scale).astype(grad.dtype, copy=False)

    def clip(self, grads: Sequence[Array], low: float, high: float) -> None:
        """Limits every element to an interval."""
        for grad in grads:
            self.xp.clip(grad, low, high, out=grad)

    def scale(self, grads: Sequence[Array], factor: Array) -> None:
        """Multiplies gradients by a number, an array."""
        for grad in grads:
            grad[...] = (grad * factor).astype(grad.dtype, copy=False)

    def sum_of_squares(self, grads: Sequence[Array]) -> Array:
        """Returns the sum of the squares of all elements."""
        totals: Array = 0
        for grad in grads:
            wide = grad.astype(numpy.float32) if grad.dtype.itemsize == 2 else grad
            flat = wide.reshape(-1)
            totals = totals + flat.dot(flat)
        return self.xp.asarray(totals)
