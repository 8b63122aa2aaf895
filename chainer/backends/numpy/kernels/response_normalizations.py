"""Reference kernel of local response normalization."""

from __future__ import annotations

from typing import Any

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.backends.operations.response_normalizations import ResponseParameters
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class ResponseNormalizationKernel(ReferenceKernel):
    """Local response normalization; sums over neighboring channels by shifted slices."""

    def forward(self, x: Array, parameters: ResponseParameters) -> tuple[Array, Array]:
        n, k, alpha, beta = parameters
        wide = to_compute_dtype(x)
        scale = self._sums(wide * wide, n)
        scale *= alpha
        scale += k
        y = self._power(scale, -beta)
        y *= wide
        return y.astype(x.dtype, copy=False), scale

    def backward(
        self, x: Array, y: Array, gy: Array, residual: Any, parameters: ResponseParameters
    ) -> Array:
        n, _, alpha, beta = parameters
        scale = residual
        shared = y * gy.astype(scale.dtype, copy=False)
        shared /= scale
        gx = self._sums(shared, n)
        gx *= x
        gx *= -2 * alpha * beta
        direct = self._power(scale, -beta)
        direct *= gy
        gx += direct
        return gx.astype(x.dtype, copy=False)

    def _sums(self, x: Array, n: int) -> Array:
        """Returns the sums over ``n // 2`` channels on each side."""
        sums = x.copy()
        for shift in range(1, min(n // 2, x.shape[1] - 1) + 1):
            sums[:, shift:] += x[:, :-shift]
            sums[:, :-shift] += x[:, shift:]
        return sums

    def _power(self, x: Array, exponent: float) -> Array:
        """Returns a new array of powers."""
        xp = self.xp
        # The usual exponents are computed as roots, which takes a tenth of the time.
        if exponent == -0.5:
            power = xp.sqrt(x)
        elif exponent == -0.75:
            root = xp.sqrt(x)
            power = xp.sqrt(root)
            power *= root
        else:
            return x**exponent
        return xp.divide(1, power, out=power)
