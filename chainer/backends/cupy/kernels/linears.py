"""Affine transformation by matrix products of cuBLAS."""

from __future__ import annotations

import numpy

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array, DTypeLike


class LinearKernel(CudaKernel):
    """Kernel of ``linear``. cuBLAS accumulates products of float16 in float32."""

    source = "bias.cu"

    def forward(self, x: Array, W: Array, b: Array) -> Array:
        y = self._product(x, W.T, x.dtype)
        if b is not None:
            y, b = self.contiguous(y), self.contiguous(b.astype(y.dtype, copy=False))
            self.each("add_bias", types_for(y.dtype, None, is_wide(y)), y.size, y, b, len(b))
        return y

    def backward_data(self, gy: Array, W: Array) -> Array:
        return self._product(gy, W, gy.dtype)

    def backward_weight(self, x: Array, gy: Array, dtype: DTypeLike) -> Array:
        return self._product(gy.T, x, dtype)

    def _product(self, a: Array, b: Array, dtype: DTypeLike) -> Array:
        if a.dtype == b.dtype == dtype:
            return a.dot(b)
        working = numpy.result_type(a.dtype, b.dtype)
        product = self.xp.matmul(a.astype(working, copy=False), b.astype(working, copy=False))
        return product.astype(dtype, copy=False)
