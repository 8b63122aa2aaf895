"""Reference kernel of local response normalisation."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel


class ResponseNormalizationKernel(ReferenceKernel):
    """Local response normalisation; sums over neighbours by shifted slices."""

    def forward(self, x: Any, n: int, k: float, alpha: float, beta: float) -> tuple[Any, Any]:
        wide = x.astype(numpy.float32) if is_half(x.dtype) else x
        scale = self._sums(wide * wide, n)
        scale *= alpha
        scale += k
        y = self._power(scale, -beta)
        y *= wide
        return y.astype(x.dtype, copy=False), scale

    def backward(
        self,
        x: Any,
        y: Any,
        gy: Any,
        residual: Any,
        n: int,
        k: float,
        alpha: float,
        beta: float,
    ) -> Any:
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

    def _sums(self, x: Any, n: int) -> Any:
        """Returns the sums over ``n // 2`` channels on each side."""
        sums = x.copy()
        for shift in range(1, min(n // 2, x.shape[1] - 1) + 1):
            sums[:, shift:] += x[:, :-shift]
            sums[:, :-shift] += x[:, shift:]
        return sums

    def _power(self, x: Any, exponent: float) -> Any:
        """Returns a new array of powers; the customary exponents are roots, ten times as fast."""
        xp = self.xp
        if exponent == -0.5:
            power = xp.sqrt(x)
        elif exponent == -0.75:
            root = xp.sqrt(x)
            power = xp.sqrt(root)
            power *= root
        else:
            return x**exponent
        return xp.divide(1, power, out=power)
