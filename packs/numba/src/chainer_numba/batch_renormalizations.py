"""Kernel of batch renormalization, made of the loops of batch normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.batch_normalizations import (
    GRADIENT,
    NORMALIZE,
    STATISTICS,
    SUMS,
    Axes,
    Channels,
    vector,
)
from chainer_numba.launching import result

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32


class BatchRenormalizationKernel:
    """Kernel of ``batch_renormalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("batch_renormalization").reference_for(backend)

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
        if not x.size:
            return self._reference.forward(x, gamma, beta, running, eps, limits, axis)
        rmax, dmax = limits
        channels = Channels(x.shape, axis)
        values = channels.view(x)
        mean, var, inv_std = (numpy.empty(channels.channels, f) for _ in range(3))
        channels.reduce(STATISTICS, values, float(eps), mean, var, inv_std)
        running_mean, running_var = map(vector, running)
        running_std = numpy.sqrt(running_var + f(eps))
        r = numpy.sqrt(var + f(eps)) / running_std
        # Not clip(): with rmax below 1 the bounds are in the wrong order, and the lower one wins.
        r = numpy.where(r < 1.0 / rmax, f(1.0 / rmax), numpy.minimum(r, f(rmax)))
        d = numpy.clip((mean - running_mean) / running_std, f(-dmax), f(dmax))
        scale = vector(gamma)
        y = numpy.empty(channels.shape, f)
        channels.map(NORMALIZE, values, mean, scale * r * inv_std, scale * d + vector(beta), y)
        shape = gamma.shape
        mean, var, r, d = (a.reshape(shape) for a in (mean, var, r, d))
        return result(y, x), mean, var, r, d

    def backward(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        statistics: tuple[Array, Array, Array, Array],
        eps: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array]:
        if not x.size:
            return self._reference.backward(x, gamma, gy, statistics, eps, axis)
        channels = Channels(x.shape, axis)
        values, gradients = channels.view(x), channels.view(gy)
        mean, var, r, d = map(vector, statistics)
        inverse = 1 / numpy.sqrt(var + f(eps))
        gbeta, products = (numpy.empty(channels.channels, f) for _ in range(2))
        channels.reduce(SUMS, values, gradients, mean, gbeta, products)
        share = f(1 / channels.count)
        gx = numpy.empty(channels.shape, f)
        # As in batch normalization with gamma times r, since r and d are constants.
        slope, shift = products * inverse * inverse * -share, gbeta * share
        factor = vector(gamma) * r * inverse
        channels.map(GRADIENT, values, gradients, mean, factor, slope, shift, gx)
        ggamma = products * inverse * r + gbeta * d
        return result(gx, x), result(ggamma, gamma), result(gbeta, gamma)
