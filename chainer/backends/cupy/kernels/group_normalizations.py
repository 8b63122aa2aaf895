"""CUDA kernels of normalizations of groups of channels."""

from __future__ import annotations

from math import prod

import numpy

from chainer.backends.cupy.compiler import Types, compute_dtype, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array


class GroupNormalizationKernel(CudaKernel):
    """Kernel of ``group_normalization``: rows are groups of channels of samples."""

    source = "layer_normalization.cu"

    def forward(
        self, x: Array, gamma: Array, beta: Array, groups: int, eps: float
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        x, gamma, beta = map(self.contiguous, (x, gamma, beta))
        samples, pixels = x.shape[0], prod(x.shape[2:])
        dtype = _compute_dtype(x, gamma)
        y = self.new_like(x)
        mean = xp.zeros((samples, groups), dtype)
        inv_std = xp.full(mean.shape, eps**-0.5 if eps else 0, dtype)
        if x.size:
            rows = samples * groups
            n = x.size // rows
            arrays = (x, gamma, beta, y, mean, inv_std)
            sizes = (rows, n, float(eps), int(groups), pixels)
            self.rows("group_forward", self._types(x, gamma), rows, n, *arrays, *sizes)
        return y, mean, inv_std

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        x, gamma, gy, mean, inv_std = map(self.contiguous, (x, gamma, gy, mean, inv_std))
        samples, channels = x.shape[:2]
        groups, pixels = mean.shape[1], prod(x.shape[2:])
        gx = self.new_like(x)
        if not x.size:
            return gx, xp.zeros_like(gamma), xp.zeros_like(gamma)
        types, rows = self._types(x, gamma), samples * groups
        n = x.size // rows
        arrays = (x, gamma, gy, mean, inv_std, gx)
        self.rows("group_backward", types, rows, n, *arrays, rows, n, groups, pixels)
        # Sums over pixels first, over samples then.
        products, sums = (self.new((samples, channels), mean.dtype) for _ in range(2))
        arrays = (x, gy, mean, inv_std, products, sums)
        rows = samples * channels
        sizes = (rows, pixels, channels // groups)
        self.rows("group_backward_parameters", types, rows, pixels, *arrays, *sizes)
        ggamma, gbeta = (a.sum(axis=0).astype(gamma.dtype, copy=False) for a in (products, sums))
        return gx, ggamma, gbeta

    def _types(self, x: Array, gamma: Array) -> Types:
        arithmetic = _compute_dtype(x, gamma)
        return types_for(x.dtype, arithmetic, wide=is_wide(x), P=gamma.dtype)


def _compute_dtype(x: Array, gamma: Array) -> numpy.dtype:
    return compute_dtype(numpy.result_type(x.dtype, gamma.dtype))
