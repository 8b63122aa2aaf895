"""CUDA kernel of local response normalization."""

from __future__ import annotations

from math import prod
from typing import Any

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.backends.operations.response_normalizations import ResponseParameters
from chainer.core.typing import Array


class ResponseNormalizationKernel(CudaKernel):
    """Kernel of ``local_response_normalization``; the residual is the scale."""

    source = "response_normalization.cu"

    def forward(self, x: Array, parameters: ResponseParameters) -> tuple[Array, Array]:
        n, k, alpha, beta = parameters
        x = self.contiguous(x)
        y = self.new_like(x)
        scale = self.new(x.shape, compute_dtype(x.dtype))
        scalars = (float(k), float(alpha), float(beta))
        self._call("response_forward", x, x, y, scale, *self._window(x, n), *scalars)
        return y, scale

    def backward(
        self, x: Array, y: Array, gy: Array, residual: Any, parameters: ResponseParameters
    ) -> Array:
        n, _, alpha, beta = parameters
        x, y, gy = map(self.contiguous, (x, y, gy))
        gx = self.new_like(x)
        arrays = (x, y, gy, residual, gx)
        self._call("response_backward", x, *arrays, *self._window(x, n), float(alpha), float(beta))
        return gx

    def _window(self, x: Array, n: int) -> tuple[int, int, int]:
        return x.shape[1], prod(x.shape[2:]), int(n) // 2

    def _call(self, name: str, x: Array, *args: Any) -> None:
        self.each(name, types_for(x.dtype, wide=is_wide(x)), x.size, *args)
