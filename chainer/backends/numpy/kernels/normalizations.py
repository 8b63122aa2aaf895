"""Reference kernels of batch and layer normalization."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype, to_compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, ArrayModule, DTypeLike

Axes = tuple[int, ...]


class Channels:
    """View of an array as ``(batch, channels, positions)``, and reductions to channels.

    Args:
        xp: Array namespace.
        shape: Shape of the arrays.
        axis: Axes to reduce.
    """

    def __init__(self, xp: ArrayModule, shape: tuple[int, ...], axis: Axes) -> None:
        self._xp = xp
        self._shape = shape
        kept = [i for i in range(len(shape)) if i not in axis]
        #: Order of the axes that makes the kept axes neighbors; None if they are neighbors.
        self._order: list[int] | None = None
        if kept and kept[-1] - kept[0] != len(kept) - 1:
            self._order = [*axis, *kept]
            self.batch, self.positions = prod([shape[i] for i in axis]), 1
        else:
            first, last = (kept[0], kept[-1] + 1) if kept else (len(shape), len(shape))
            self.batch, self.positions = prod(shape[:first]), prod(shape[last:])
        self.channels = prod([shape[i] for i in kept])
        self.count = self.batch * self.positions

    def view(self, x: Array) -> Array:
        """Returns ``(batch, channels, positions)``; without positions if there is only one.

        NumPy reduces two dimensions faster than three.
        """
        if self._order is not None:
            x = x.transpose(self._order)
        if self.positions == 1:
            return x.reshape(self.batch, self.channels)
        return x.reshape(self.batch, self.channels, self.positions)

    def restore(self, x: Array) -> Array:
        """Undoes :meth:`view`."""
        if self._order is None:
            return x.reshape(self._shape)
        inverse = numpy.argsort(self._order).tolist()
        return x.reshape([self._shape[i] for i in self._order]).transpose(inverse).copy()

    def along(self, parameter: Array, dtype: DTypeLike) -> Array:
        """Returns a parameter in a shape that broadcasts to views."""
        parameter = parameter.astype(dtype, copy=False)
        return parameter.reshape(-1) if self.positions == 1 else parameter.reshape(-1, 1)

    def sum(self, x: Array) -> Array:
        """Returns the sums of a view by channel."""
        return x.sum(axis=0) if x.ndim == 2 else x.sum(axis=2).sum(axis=0)

    def dot(self, x: Array, y: Array) -> Array:
        """Returns the sums of the products of two views by channel.

        einsum needs no array for the products.
        """
        # Views have no third axis where there is one position only.
        if x.ndim == 2:
            return self._xp.einsum("nc,nc->c", x, y)
        return self._xp.einsum("ncs,ncs->nc", x, y).sum(axis=0)


class BatchNormalizationKernel(ReferenceKernel):
    """Batch normalization in passes over whole arrays, most of them in place.

    The output and the gradient need one array of the size of the input each, and no others.
    """

    def forward(
        self,
        x: Array,
        gamma: Array,
        beta: Array,
        running: tuple[Array, Array] | None,
        eps: float,
        decay: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array, Array]:
        xp = self.xp
        dtype = compute_dtype(x.dtype, gamma.dtype)
        channels = Channels(xp, x.shape, axis)
        if x.size == 0:
            return xp.empty_like(x), xp.zeros(gamma.shape, dtype), xp.ones(gamma.shape, dtype), None
        values = channels.view(x.astype(dtype, copy=False))
        mean = channels.sum(values)
        mean /= channels.count
        y = values - channels.along(mean, dtype)
        var = channels.dot(y, y)
        var /= channels.count
        if running is not None:
            _update(running[0], mean, decay)
            unbiased = channels.count / max(channels.count - 1, 1)
            _update(running[1], var * dtype.type(unbiased), decay)
        var += eps
        inv_std = 1 / xp.sqrt(var)
        y *= channels.along(gamma.reshape(-1) * inv_std, dtype)
        y += channels.along(beta, dtype)
        y = channels.restore(y).astype(x.dtype, copy=False)
        return y, mean.reshape(gamma.shape), inv_std.reshape(gamma.shape), None

    def backward(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        mean: Array,
        inv_std: Array,
        residual: Any,
        axis: Axes,
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        if x.size == 0:
            return xp.empty_like(x), xp.zeros_like(gamma), xp.zeros_like(gamma)
        dtype = mean.dtype
        channels = Channels(xp, x.shape, axis)
        gradient = channels.view(gy.astype(dtype, copy=False))
        gbeta = channels.sum(gradient)
        # x less its mean. From here on this array becomes the gradient, in place.
        gx = channels.view(x.astype(dtype, copy=False)) - channels.along(mean, dtype)
        ggamma = channels.dot(gradient, gx)
        flat = inv_std.reshape(-1)
        ggamma *= flat
        gx *= channels.along(ggamma * flat * dtype.type(-1.0 / channels.count), dtype)
        gx += gradient
        gx -= channels.along(gbeta * dtype.type(1.0 / channels.count), dtype)
        gx *= channels.along(gamma.reshape(-1) * flat, dtype)
        return (
            channels.restore(gx).astype(x.dtype, copy=False),
            ggamma.reshape(gamma.shape).astype(gamma.dtype, copy=False),
            gbeta.reshape(gamma.shape).astype(gamma.dtype, copy=False),
        )


def _update(running: Array, statistic: Array, decay: float) -> None:
    running *= decay
    running += (statistic.reshape(running.shape) * (1 - decay)).astype(running.dtype, copy=False)


class FixedBatchNormalizationKernel(ReferenceKernel):
    """Batch normalization with given statistics: one factor and one summand for each channel."""

    def forward(
        self, x: Array, gamma: Array, beta: Array, mean: Array, var: Array, eps: float, axis: Axes
    ) -> Array:
        dtype = compute_dtype(x.dtype, gamma.dtype)
        channels = Channels(self.xp, x.shape, axis)
        factor, _ = self._factor(gamma, var, eps, dtype)
        summand = beta.astype(dtype, copy=False) - mean.astype(dtype, copy=False) * factor
        y = channels.view(x.astype(dtype, copy=False)) * channels.along(factor, dtype)
        y += channels.along(summand, dtype)
        return channels.restore(y).astype(x.dtype, copy=False)

    def backward(
        self, x: Array, gamma: Array, mean: Array, var: Array, gy: Array, eps: float, axis: Axes
    ) -> tuple[Array, Array, Array, Array, Array]:
        dtype = compute_dtype(x.dtype, gamma.dtype)
        channels = Channels(self.xp, x.shape, axis)
        factor, inv_std = self._factor(gamma, var, eps, dtype)
        gradient = channels.view(gy.astype(dtype, copy=False))
        gbeta = channels.sum(gradient).reshape(gamma.shape)
        gx = channels.view(x.astype(dtype, copy=False)) - channels.along(mean, dtype)
        ggamma = channels.dot(gradient, gx).reshape(gamma.shape) * inv_std
        gmean = -factor * gbeta
        gvar = ggamma * factor * inv_std
        gvar *= -0.5
        # Into the array of the centered input, which is not needed any more.
        self.xp.multiply(gradient, channels.along(factor, dtype), out=gx)
        parameters = [
            g.astype(p.dtype, copy=False)
            for g, p in ((ggamma, gamma), (gbeta, gamma), (gmean, mean), (gvar, var))
        ]
        return (channels.restore(gx).astype(x.dtype, copy=False), *parameters)

    def _factor(
        self, gamma: Array, var: Array, eps: float, dtype: DTypeLike
    ) -> tuple[Array, Array]:
        inv_std = 1 / self.xp.sqrt(var.astype(dtype, copy=False) + dtype.type(eps))
        return gamma.astype(dtype, copy=False) * inv_std, inv_std


class LayerNormalizationKernel(ReferenceKernel):
    """Layer normalization."""

    def forward(
        self, x: Array, gamma: Array, beta: Array, eps: float
    ) -> tuple[Array, Array, Array, Array]:
        xp = self.xp
        wide = to_compute_dtype(x)
        # Rows without elements have the mean 0, not NaN.
        size = max(x.shape[1], 1)
        if xp is numpy and len(x) == 1:
            return _normalized_row(x, wide, gamma, beta, size, eps)
        mean = wide.sum(axis=1)
        mean /= size
        y = wide - mean[:, None]
        # Of the centered values: the difference of two large means would lose digits.
        var = xp.einsum("nd,nd->n", y, y)
        var /= size
        var += eps
        inv_std = 1 / xp.sqrt(var)
        y *= inv_std[:, None]
        y *= gamma
        y += beta
        return y.astype(x.dtype, copy=False), mean, inv_std, None

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array, residual: Any
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        dtype = mean.dtype
        gradient = gy.astype(dtype, copy=False)
        size = dtype.type(1.0 / max(x.shape[1], 1))
        # Computed again: keeping it would cost an array of the size of the input until backward.
        normalized = x - mean[:, None]
        normalized *= inv_std[:, None]
        gbeta = gradient.sum(axis=0)
        ggamma = xp.einsum("nd,nd->d", gradient, normalized)
        gx = gradient * gamma
        mean_g = gx.sum(axis=1) * size
        mean_gx = xp.einsum("nd,nd->n", gx, normalized) * size
        normalized *= mean_gx[:, None]
        gx -= normalized
        gx -= mean_g[:, None]
        gx *= inv_std[:, None]
        return (
            gx.astype(x.dtype, copy=False),
            ggamma.astype(gamma.dtype, copy=False),
            gbeta.astype(gamma.dtype, copy=False),
        )


def _normalized_row(
    x: Array, wide: Array, gamma: Array, beta: Array, size: int, eps: float
) -> tuple[Array, Array, Array, None]:
    """Normalizes a single vector, as when text is decoded.

    Its statistics are two numbers: arithmetic with NumPy's scalars, and a dot product of BLAS, take
    half the time of calls for arrays.
    """
    dtype = wide.dtype
    mean = numpy.add.reduce(wide[0]) / dtype.type(size)
    y = wide - mean
    centered = y[0]
    inverse = 1 / numpy.sqrt(centered.dot(centered) / dtype.type(size) + dtype.type(eps))
    y *= inverse
    y *= gamma
    y += beta
    return y.astype(x.dtype, copy=False), mean.reshape(1), inverse.reshape(1), None


class BatchRenormalizationKernel(ReferenceKernel):
    """Batch renormalization; one factor and one summand for each channel."""

    def forward(
        self,
        x: Array,
        gamma: Array,
        beta: Array,
        running: tuple[Array, Array],
        eps: float,
        limits: tuple[float, float],
        axis: Axes,
    ) -> tuple[Array, Array, Array, Array, Array]:
        xp = self.xp
        running_mean, running_var = running
        rmax, dmax = limits
        channels = Channels(xp, x.shape, axis)
        dtype = compute_dtype(x.dtype, gamma.dtype)
        values = channels.view(x.astype(dtype, copy=False))
        count = max(channels.count, 1)
        mean = channels.sum(values)
        mean /= count
        y = values - channels.along(mean, dtype)
        var = channels.dot(y, y)
        var /= count
        std = xp.sqrt(var + eps)
        running_std = xp.sqrt(running_var.reshape(-1).astype(dtype, copy=False) + eps)
        r = std / running_std
        # Not clip(): with rmax below 1 the bounds are in the wrong order, and the lower one wins.
        r = xp.where(r < 1.0 / rmax, 1.0 / rmax, xp.minimum(r, rmax)).astype(dtype, copy=False)
        d = (mean - running_mean.reshape(-1).astype(dtype, copy=False)) / running_std
        d = xp.clip(d, -dmax, dmax)
        flat_gamma = gamma.reshape(-1).astype(dtype, copy=False)
        y *= channels.along(flat_gamma * r / std, dtype)
        y += channels.along(flat_gamma * d + beta.reshape(-1), dtype)
        shape = gamma.shape
        return (
            channels.restore(y).astype(x.dtype, copy=False),
            mean.reshape(shape),
            var.reshape(shape),
            r.reshape(shape),
            d.reshape(shape),
        )

    def backward(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        statistics: tuple[Array, Array, Array, Array],
        eps: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array]:
        xp = self.xp
        mean, var, r, d = statistics
        channels = Channels(xp, x.shape, axis)
        dtype = mean.dtype
        inv_count = dtype.type(1.0 / max(channels.count, 1))
        gradient = channels.view(gy.astype(dtype, copy=False))
        inv_std = 1 / xp.sqrt(var.reshape(-1) + eps)
        gbeta = channels.sum(gradient)
        # x less its mean. From here on this array becomes the gradient, in place.
        gx = channels.view(x.astype(dtype, copy=False)) - channels.along(mean, dtype)
        dot = channels.dot(gradient, gx) * inv_std
        ggamma = dot * r.reshape(-1) + gbeta * d.reshape(-1)
        gx *= channels.along(dot * inv_std * -inv_count, dtype)
        gx += gradient
        gx -= channels.along(gbeta * inv_count, dtype)
        gx *= channels.along(gamma.reshape(-1) * r.reshape(-1) * inv_std, dtype)
        return (
            channels.restore(gx).astype(x.dtype, copy=False),
            ggamma.reshape(gamma.shape).astype(gamma.dtype, copy=False),
            gbeta.reshape(gamma.shape).astype(gamma.dtype, copy=False),
        )
