"""Reference kernels of normalizations, block by block of samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from chainer.kernel import ReferenceKernel
from chainer_modern.blocks import BLOCK, widened


def _steps(xp: Any, count: int, size: int) -> Iterator[slice]:
    """Cuts ``count`` things of ``size`` elements into blocks."""
    step = max(BLOCK // max(size, 1), 1) if xp is numpy else max(count, 1)
    for start in range(0, count, step):
        yield slice(start, start + step)


class GroupNormalizationKernel(ReferenceKernel):
    """Normalisation of groups of channels."""

    def forward(
        self, x: Any, gamma: Any, beta: Any, groups: int, eps: float
    ) -> tuple[Any, Any, Any]:
        """Computes the output; see the operation."""
        xp = self.xp
        grouped = widened(x).reshape(_grouped_shape(x, groups))
        samples, _, channels, pixels = grouped.shape
        gamma, beta = (widened(a).reshape((groups, channels)) for a in (gamma, beta))
        size = max(channels * pixels, 1)
        y = xp.empty(grouped.shape, x.dtype)
        mean = xp.empty((samples, groups), grouped.dtype)
        inv_std = xp.empty_like(mean)
        ones = xp.ones(channels * pixels, grouped.dtype)  # sums by BLAS are faster than sum()
        for block in self._blocks(grouped.shape):
            part = grouped[block]
            flat = part.reshape((*part.shape[:2], channels * pixels))
            center = xp.matmul(flat, ones)
            center /= size
            flat = flat - center[..., None]
            var = xp.einsum("ngi,ngi->ng", flat, flat)
            var /= size
            var += eps
            inv = 1 / xp.sqrt(var)
            mean[block], inv_std[block] = center, inv
            part = flat.reshape(part.shape)
            part *= (inv[..., None] * gamma[block[1]])[..., None]
            part += beta[block[1]][..., None]
            y[block] = part
        return y.reshape(x.shape), mean, inv_std

    def backward(
        self, x: Any, gamma: Any, gy: Any, mean: Any, inv_std: Any
    ) -> tuple[Any, Any, Any]:
        """Computes the gradients; see the operation."""
        xp = self.xp
        groups = mean.shape[1]
        shape = _grouped_shape(x, groups)
        grouped, gradient = widened(x).reshape(shape), widened(gy).reshape(shape)
        channels, pixels = shape[2:]
        wide_gamma = widened(gamma).reshape((groups, channels))
        size = max(channels * pixels, 1)
        gx = xp.empty(shape, x.dtype)
        ggamma = xp.zeros((groups, channels), grouped.dtype)
        gbeta = xp.zeros_like(ggamma)
        ones = xp.ones(pixels, grouped.dtype)
        for block in self._blocks(shape):
            g, inv, scale = gradient[block], inv_std[block], wide_gamma[block[1]]
            centered = grouped[block] - mean[block][..., None, None]
            sums = xp.matmul(g, ones)
            products = xp.einsum("ngcp,ngcp->ngc", g, centered)
            products *= inv[..., None]
            gbeta[block[1]] += sums.sum(axis=0)
            ggamma[block[1]] += products.sum(axis=0)
            # The gradients that reach x through the mean and through the variance, in each group.
            by_mean = (sums * scale).sum(axis=2) * inv / size
            by_var = (products * scale).sum(axis=2) * inv**2 / size
            centered *= by_var[..., None, None]
            part = g * (scale * inv[..., None])[..., None]
            part -= centered
            part -= by_mean[..., None, None]
            gx[block] = part
        return (
            gx.reshape(x.shape),
            ggamma.reshape(-1).astype(gamma.dtype, copy=False),
            gbeta.reshape(-1).astype(gamma.dtype, copy=False),
        )

    def _blocks(self, shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
        samples, groups, channels, pixels = shape
        for some_groups in _steps(self.xp, groups, channels * pixels):
            n_groups = min(some_groups.stop, groups) - some_groups.start
            for some_samples in _steps(self.xp, samples, n_groups * channels * pixels):
                yield some_samples, some_groups


def _grouped_shape(x: Any, groups: int) -> tuple[int, ...]:
    samples, channels = x.shape[:2]
    pixels = 1
    for length in x.shape[2:]:
        pixels *= length
    return samples, groups, channels // groups, pixels


class RMSNormalizationKernel(ReferenceKernel):
    """Division by the root of the mean square."""

    def forward(self, x: Any, gamma: Any, eps: float) -> tuple[Any, Any]:
        """Computes the output; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        rows = widened(x).reshape((_n_rows(x), size))
        wide_gamma = widened(gamma)
        y = xp.empty(rows.shape, x.dtype)
        inv_rms = xp.empty((len(rows), 1), rows.dtype)
        for block in _steps(xp, len(rows), size):
            part = rows[block]
            square = xp.einsum("nd,nd->n", part, part)
            square /= max(size, 1)
            square += eps
            inv = (1 / xp.sqrt(square))[:, None]
            inv_rms[block] = inv
            part = part * inv
            part *= wide_gamma
            y[block] = part
        return y.reshape(x.shape), inv_rms.reshape((*x.shape[:-1], 1))

    def backward(self, x: Any, gamma: Any, gy: Any, inv_rms: Any) -> tuple[Any, Any]:
        """Computes the gradients; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        shape = (_n_rows(x), size)
        rows, gradient = widened(x).reshape(shape), widened(gy).reshape(shape)
        inverse = inv_rms.reshape((shape[0], 1))
        wide_gamma = widened(gamma)
        gx = xp.empty(shape, x.dtype)
        ggamma = xp.zeros(size, rows.dtype)
        for block in _steps(xp, shape[0], size):
            part, g, inv = rows[block], gradient[block], inverse[block]
            products = part * g
            ggamma += xp.matmul(inv[:, 0], products)
            by_square = xp.matmul(products, wide_gamma)[:, None] * inv**3 / max(size, 1)
            xp.multiply(g, wide_gamma, out=products)
            products *= inv
            products -= part * by_square
            gx[block] = products
        return gx.reshape(x.shape), ggamma.astype(gamma.dtype, copy=False)


def _n_rows(x: Any) -> int:
    total = 1
    for length in x.shape[:-1]:
        total *= length
    return total
