"""CUDA kernels of spatial transformers."""

from __future__ import annotations

from math import prod

import numpy

from chainer.backends.cupy.compiler import compute_dtype
from chainer.backends.cupy.kernels._sampling import SamplingKernel, sort_with_order
from chainer.core.typing import Array


class SpatialTransformerSamplerKernel(SamplingKernel):
    """Kernel of ``spatial_transformer_sampler``."""

    def forward(self, x: Array, grid: Array) -> Array:
        x, grid = self.contiguous(x), self.contiguous(grid)
        y = self.new((*x.shape[:2], *grid.shape[2:]), x.dtype)
        sizes = (*x.shape[1:], prod(grid.shape[2:]))
        self.each("sampler_forward", self.types(x, y), y.size, x, grid, y, *sizes)
        return y

    def backward(self, x: Array, grid: Array, gy: Array) -> tuple[Array, Array]:
        xp = self.xp
        x, grid, gy = map(self.contiguous, (x, grid, gy))
        gx = xp.zeros(x.shape, compute_dtype(x.dtype))
        ggrid = self._backward(x, grid, gy, gx)
        return gx.astype(x.dtype, copy=False), ggrid

    def _backward(self, x: Array, grid: Array, gy: Array, gx: Array) -> Array:
        ggrid = self.new_like(grid)
        points = prod(grid.shape[2:])
        types, sizes = self.types(x, gy, grid), (*x.shape[1:], points)
        self.each("sampler_backward", types, len(x) * points, x, grid, gy, gx, ggrid, *sizes)
        return ggrid


class DeterministicSpatialTransformerSamplerKernel(SpatialTransformerSamplerKernel):
    """Kernel of ``spatial_transformer_sampler`` whose gradients are sums in a fixed order.

    Points are sorted by the four pixels they lie between.
    """

    def backward(self, x: Array, grid: Array, gy: Array) -> tuple[Array, Array]:
        xp = self.xp
        x, grid, gy = map(self.contiguous, (x, grid, gy))
        points = prod(grid.shape[2:])
        types, count = self.types(x, gy, grid), len(x) * points
        keys, gx = self.new(count, numpy.int64), self.new_like(x)
        self.each("sampler_keys", types, count, grid, keys, *x.shape[2:], points)
        sizes = (*x.shape[1:], points, count)
        self.each("sampler_sums", types, gx.size, *sort_with_order(xp, keys), grid, gy, gx, *sizes)
        return gx, self._backward(x, grid, gy, None)
