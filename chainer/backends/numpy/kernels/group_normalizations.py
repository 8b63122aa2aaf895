"""Reference kernels of normalizations of groups of channels."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy

from chainer.core.arrays.chunks import chunks
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DType, Shape

#: Elements of a block. Smaller blocks cost more calls, larger ones leave the second-level cache.
_BLOCK_ELEMENTS = 1 << 16


def compute_dtype(*arrays: Array) -> DType:
    """Returns the dtype to compute in: the dtype of the arrays, but float32 for halves."""
    dtype = numpy.result_type(*[array.dtype for array in arrays])
    return numpy.dtype(numpy.float32) if is_half(dtype) else dtype


class GroupNormalizationKernel(ReferenceKernel):
    """Normalization of groups of channels, block by block of samples and groups."""

    def forward(
        self, x: Array, gamma: Array, beta: Array, groups: int, eps: float
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        dtype = compute_dtype(x, gamma)
        shape = _grouped_shape(x.shape, groups)
        grouped = x.reshape(shape)
        samples, _, channels, pixels = shape
        gamma, beta = (a.astype(dtype, copy=False).reshape(groups, channels) for a in (gamma, beta))
        size = max(channels * pixels, 1)
        y = xp.empty(shape, x.dtype)
        mean = xp.empty((samples, groups), dtype)
        inv_std = xp.empty_like(mean)
        ones = xp.ones(channels * pixels, dtype)  # sums by BLAS are faster than sum()
        for block in self._blocks(shape):
            flat = grouped[block].astype(dtype, copy=False)
            part_shape = flat.shape
            flat = flat.reshape((*part_shape[:2], channels * pixels))
            center = xp.matmul(flat, ones)
            center /= size
            flat = flat - center[..., None]
            var = xp.einsum("ngi,ngi->ng", flat, flat)
            var /= size
            var += eps
            inv = 1 / xp.sqrt(var)
            mean[block], inv_std[block] = center, inv
            part = flat.reshape(part_shape)
            part *= (inv[..., None] * gamma[block[1]])[..., None]
            part += beta[block[1]][..., None]
            y[block] = part
        return y.reshape(x.shape), mean, inv_std

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        dtype = mean.dtype
        groups = mean.shape[1]
        shape = _grouped_shape(x.shape, groups)
        grouped, gradient = x.reshape(shape), gy.reshape(shape)
        channels, pixels = shape[2:]
        wide_gamma = gamma.astype(dtype, copy=False).reshape((groups, channels))
        size = max(channels * pixels, 1)
        gx = xp.empty(shape, x.dtype)
        ggamma = xp.zeros((groups, channels), dtype)
        gbeta = xp.zeros_like(ggamma)
        ones = xp.ones(pixels, dtype)
        for block in self._blocks(shape):
            g = gradient[block].astype(dtype, copy=False)
            inv, scale = inv_std[block], wide_gamma[block[1]]
            centered = grouped[block].astype(dtype, copy=False) - mean[block][..., None, None]
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

    def _blocks(self, shape: Shape) -> Iterator[tuple[slice, slice]]:
        samples, groups, channels, pixels = shape
        # Blocks pay where there is a cache: on a device each costs several launches.
        most = _BLOCK_ELEMENTS if self.xp is numpy else max(prod(shape), 1)
        for some_groups in chunks(groups, channels * pixels, most):
            size = (some_groups.stop - some_groups.start) * channels * pixels
            for some_samples in chunks(samples, size, most):
                yield some_samples, some_groups


def _grouped_shape(shape: Shape, groups: int) -> Shape:
    """Returns the shape ``(samples, groups, channels of a group, pixels)``."""
    return shape[0], groups, shape[1] // max(groups, 1), prod(shape[2:])


class DecorrelatedBatchNormalizationKernel(ReferenceKernel):
    """Whitening by the eigenvectors of the covariance matrices."""

    def forward(
        self, x: Array, groups: int, eps: float
    ) -> tuple[Array, Array, Array, tuple[Array, ...]]:
        xp = self.xp
        dtype = compute_dtype(x)
        values = to_groups(x, groups).astype(dtype, copy=False)
        count = max(values.shape[2], 1)
        mean = values.sum(axis=2)
        mean /= count
        values = values - mean[:, :, None]
        covariance = xp.matmul(values, values.swapaxes(1, 2))
        covariance /= count
        covariance += eps * xp.eye(values.shape[1], dtype=dtype)
        eigenvalues, vectors = xp.linalg.eigh(covariance)
        # Columns are directions in which the data, times the column, has the variance 1.
        whitening = vectors / xp.sqrt(eigenvalues)[:, None]
        white = xp.matmul(whitening.swapaxes(1, 2), values)
        del values
        projection = xp.matmul(whitening, vectors.swapaxes(1, 2))
        y = from_groups(xp.matmul(vectors, white), x.shape).astype(x.dtype, copy=False)
        return y, mean, projection, (eigenvalues, vectors, white)

    def backward(self, gy: Array, residual: tuple[Array, ...]) -> Array:
        # Huang et al., 2018 (https://arxiv.org/abs/1804.08450), appendix.
        xp = self.xp
        eigenvalues, vectors, white = residual
        groups, size, count = white.shape
        count = max(count, 1)
        gradient = to_groups(gy, groups).astype(white.dtype, copy=False)
        gradient = xp.matmul(vectors.swapaxes(1, 2), gradient)
        products = xp.matmul(gradient, white.swapaxes(1, 2))
        products /= count
        # Eigenvectors turn with a speed that is the reciprocal of the distance of eigenvalues.
        distance = eigenvalues[:, :, None] - eigenvalues[:, None, :]
        same = distance == 0
        turning = xp.where(same, 0, 1 / xp.where(same, 1, distance)).swapaxes(1, 2)
        roots = xp.sqrt(eigenvalues)
        turning = turning * (
            eigenvalues[:, :, None] * products.swapaxes(1, 2)
            + roots[:, :, None] * products * roots[:, None, :]
        )
        turning = turning + turning.swapaxes(1, 2)
        turning -= products * xp.eye(size, dtype=products.dtype)
        gx = gradient - gradient.sum(axis=2, keepdims=True) / count
        gx += xp.matmul(turning.swapaxes(1, 2), white)
        gx = xp.matmul(vectors / roots[:, None], gx)
        return from_groups(gx, gy.shape).astype(gy.dtype, copy=False)


def to_groups(x: Array, groups: int) -> Array:
    """Returns ``(N, C, ...)`` as matrices ``(groups, C / groups, elements of a channel)``."""
    channels = x.shape[1]
    rows = x.reshape((x.shape[0], channels, prod(x.shape[2:]))).transpose((1, 0, 2))
    return rows.reshape((groups, channels // groups, rows.shape[1] * rows.shape[2]))


def from_groups(matrices: Array, shape: Shape) -> Array:
    """Undoes :func:`to_groups`."""
    rows = matrices.reshape((shape[1], shape[0], prod(shape[2:])))
    return rows.transpose((1, 0, 2)).reshape(shape)
