"""Reference kernel of batch renormalisation."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.numpy.kernels.normalizations import Channels
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel

Axes = tuple[int, ...]


class BatchRenormalizationKernel(ReferenceKernel):
    """Batch renormalisation; one factor and one summand for each channel."""

    def forward(
        self,
        x: Any,
        gamma: Any,
        beta: Any,
        running_mean: Any,
        running_var: Any,
        eps: float,
        rmax: float,
        dmax: float,
        axis: Axes,
    ) -> tuple[Any, Any, Any, Any, Any]:
        xp = self.xp
        channels = Channels(xp, x.shape, axis)
        dtype = _computing_dtype(x, gamma)
        values = channels.view(x.astype(dtype, copy=False))
        count = max(channels.count, 1)
        mean = channels.sum(values)
        mean /= count
        y = values - channels.along(mean, dtype)
        var = channels.dot(y, y)
        var /= count
        std = xp.sqrt(var + eps)
        running_std = xp.sqrt(running_var.reshape(-1).astype(dtype, copy=False) + eps)
        r = xp.clip(std / running_std, 1.0 / rmax, rmax)
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
        x: Any,
        gamma: Any,
        gy: Any,
        mean: Any,
        var: Any,
        r: Any,
        d: Any,
        eps: float,
        axis: Axes,
    ) -> tuple[Any, Any, Any]:
        xp = self.xp
        channels = Channels(xp, x.shape, axis)
        dtype = mean.dtype
        inv_count = dtype.type(1.0 / max(channels.count, 1))
        gradient = channels.view(gy.astype(dtype, copy=False))
        inv_std = 1 / xp.sqrt(var.reshape(-1) + eps)
        gbeta = channels.sum(gradient)
        # From here on what is x less its mean becomes the gradient, in place.
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


def _computing_dtype(x: Any, gamma: Any) -> Any:
    dtype = numpy.result_type(x.dtype, gamma.dtype)
    return numpy.dtype(numpy.float32) if is_half(dtype) else dtype
