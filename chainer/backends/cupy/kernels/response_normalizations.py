"""CUDA kernel of local response normalization."""

from __future__ import annotations

from math import prod
from typing import Any

from chainer.backends.cupy.compiler import compute_dtype, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array


class ResponseNormalizationKernel(CudaKernel):
    """Kernel of ``local_response_normalization``; the residual is the scale."""

    source = "response_normalization.cu"

    def forward(self, x: Array, n: int, k: float, alpha: float, beta: float) -> tuple[Array, Array]:
        x = self.contiguous(x)
        y = self.new_like(x)
        scale = self.new(x.shape, compute_dtype(x.dtype))
        scalars = (float(k), float(alpha), float(beta))
        self._call("response_forward", x, x, y, scale, *self._geometry(x, n), *scalars)
        return y, scale

    def backward(
        self,
        x: Array,
        y: Array,
        gy: Array,
        residual: Any,
        n: int,
        k: float,
        alpha: float,
        beta: float,
    ) -> Array:
        x, y, gy = map(self.contiguous, (x, y, gy))
        gx = self.new_like(x)
        arrays = (x, y, gy, residual, gx)
        geometry = self._geometry(x, n)
        self._call("response_backward", x, *arrays, *geometry, float(alpha), float(beta))
        return gx

    def _geometry(self, x: Array, n: int) -> tuple[int, int, int]:
        return x.shape[1], prod(x.shape[2:]), int(n) // 2

    def _call(self, name: str, x: Array, *args: Any) -> None:
        self.each(name, types_for(x.dtype, wide=is_wide(x)), x.size, *args)
