"""Kernels of batch normalization: channel by channel, so that a channel stays in the cache.

Arrays are viewed as ``(batch, channels, positions)``. Where there is one position, some neighboring
channels are computed together, some lines of the cache at a time.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch, result, summing

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO = f(0)

#: Channels that are computed together where there is one position.
CHANNELS = 128

Axes = tuple[int, ...]


@summing
def statistics(part, start, stop, x, eps, mean, var, inv_std):
    """Writes mean, variance and the reciprocal of the standard deviation of channels."""
    batch, _, positions = x.shape
    count = batch * positions
    for c in range(start, stop):
        total = 0.0
        for n in range(batch):
            row = _ZERO
            for i in range(positions):
                row += x[n, c, i]
            total += row
        center = f(total / count)
        squares = 0.0
        for n in range(batch):
            row = _ZERO
            for i in range(positions):
                distance = x[n, c, i] - center
                row += distance * distance
            squares += row
        mean[c] = center
        var[c] = f(squares / count)
        inv_std[c] = f(1) / numpy.sqrt(var[c] + f(eps))


@compiled
def normalize(part, start, stop, x, mean, factor, beta, y):
    for c in range(start, stop):
        for n in range(x.shape[0]):
            for i in range(x.shape[2]):
                y[n, c, i] = (x[n, c, i] - mean[c]) * factor[c] + beta[c]


@summing
def sums(part, start, stop, x, gy, mean, gbeta, products):
    """Writes the sums of ``gy`` and of ``gy * (x - mean)``."""
    batch, _, positions = x.shape
    for c in range(start, stop):
        total, dot = 0.0, 0.0
        for n in range(batch):
            row, row_dot = _ZERO, _ZERO
            for i in range(positions):
                row += gy[n, c, i]
                row_dot += gy[n, c, i] * (x[n, c, i] - mean[c])
            total += row
            dot += row_dot
        gbeta[c] = f(total)
        products[c] = f(dot)


@compiled
def gradient(part, start, stop, x, gy, mean, factor, slope, shift, gx):
    """Writes ``(gy + slope * (x - mean) - shift) * factor``."""
    for c in range(start, stop):
        for n in range(x.shape[0]):
            for i in range(x.shape[2]):
                centered = x[n, c, i] - mean[c]
                gx[n, c, i] = (gy[n, c, i] + slope[c] * centered - shift[c]) * factor[c]


# The same for arrays of two dimensions; ``start`` and ``stop`` count groups of channels.


@compiled
def statistics_of_columns(part, start, stop, x, eps, mean, var, inv_std):
    batch = x.shape[0]
    for group in range(start, stop):
        first, last = group * CHANNELS, (group + 1) * CHANNELS
        center, spread, inverse = mean[first:last], var[first:last], inv_std[first:last]
        center[:] = _ZERO
        spread[:] = _ZERO
        for n in range(batch):
            row = x[n, first:last]
            for c in range(len(row)):
                center[c] += row[c]
        for c in range(len(center)):
            center[c] /= f(batch)
        for n in range(batch):
            row = x[n, first:last]
            for c in range(len(row)):
                distance = row[c] - center[c]
                spread[c] += distance * distance
        for c in range(len(center)):
            spread[c] /= f(batch)
            inverse[c] = f(1) / numpy.sqrt(spread[c] + f(eps))


@compiled
def normalize_columns(part, start, stop, x, mean, factor, beta, y):
    for n in range(start, stop):
        for c in range(x.shape[1]):
            y[n, c] = (x[n, c] - mean[c]) * factor[c] + beta[c]


@compiled
def sums_of_columns(part, start, stop, x, gy, mean, gbeta, products):
    for group in range(start, stop):
        first, last = group * CHANNELS, (group + 1) * CHANNELS
        center, total, dot = mean[first:last], gbeta[first:last], products[first:last]
        total[:] = _ZERO
        dot[:] = _ZERO
        for n in range(x.shape[0]):
            row, gradients = x[n, first:last], gy[n, first:last]
            for c in range(len(row)):
                total[c] += gradients[c]
                dot[c] += gradients[c] * (row[c] - center[c])


@compiled
def gradient_of_columns(part, start, stop, x, gy, mean, factor, slope, shift, gx):
    for n in range(start, stop):
        for c in range(x.shape[1]):
            centered = x[n, c] - mean[c]
            gx[n, c] = (gy[n, c] + slope[c] * centered - shift[c]) * factor[c]


class Channels:
    """The view ``(batch, channels, positions)`` of arrays, and loops over it.

    Args:
        shape: Shape of the arrays.
        axis: Axes that are reduced; the others are neighbors.
    """

    def __init__(self, shape: tuple[int, ...], axis: Axes) -> None:
        kept = [i for i in range(len(shape)) if i not in axis]
        first, last = (kept[0], kept[-1] + 1) if kept else (len(shape), len(shape))
        batch, self.channels = prod(shape[:first]), prod(shape[first:last])
        positions = prod(shape[last:])
        self.shape = (batch, self.channels)
        self.in_columns = positions == 1
        if not self.in_columns:
            self.shape = (batch, self.channels, positions)
        self.count = batch * positions
        self._elements = batch * self.channels * positions

    def view(self, x: Array) -> Array:
        """Returns the view of an array, in float32."""
        return dense(x).reshape(self.shape)

    def reduce(self, loops: tuple[Any, Any], *arguments: Any) -> None:
        """Runs a loop over channels: the first for three dimensions, the second for two."""
        rows = -(-self.channels // CHANNELS) if self.in_columns else self.channels
        launch(loops[self.in_columns], rows, 2 * self._elements, *arguments)

    def map(self, loops: tuple[Any, Any], *arguments: Any) -> None:
        """Runs a loop over all elements, which two dimensions are divided into rows for."""
        rows = self.shape[0] if self.in_columns else self.channels
        launch(loops[self.in_columns], rows, self._elements, *arguments)


# The loops for arrays of three and of two dimensions.
STATISTICS = statistics, statistics_of_columns
NORMALIZE = normalize, normalize_columns
SUMS = sums, sums_of_columns
GRADIENT = gradient, gradient_of_columns


def vector(parameter: Array) -> Array:
    """Returns a parameter as a vector of float32 that may be changed."""
    return numpy.array(parameter, f).reshape(-1)


class BatchNormalizationKernel:
    """Kernel of ``batch_normalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(
        self,
        x: Array,
        gamma: Array,
        beta: Array,
        running: tuple[Array, Array] | None,
        eps: float,
        decay: float,
        axis: Axes,
    ) -> tuple[Array, Array, Array, None]:
        shape = gamma.shape
        if not x.size:
            return numpy.empty_like(x), numpy.zeros(shape, f), numpy.ones(shape, f), None
        channels = Channels(x.shape, axis)
        values = channels.view(x)
        mean, var, inv_std = (numpy.empty(channels.channels, f) for _ in range(3))
        channels.reduce(STATISTICS, values, float(eps), mean, var, inv_std)
        if running is not None:
            unbiased = var * f(channels.count / max(channels.count - 1, 1))
            for average, statistic in zip(running, (mean, unbiased)):
                average *= decay
                average += (statistic.reshape(average.shape) * (1 - decay)).astype(average.dtype)
        y = numpy.empty(channels.shape, f)
        channels.map(NORMALIZE, values, mean, vector(gamma) * inv_std, vector(beta), y)
        return result(y, x), mean.reshape(shape), inv_std.reshape(shape), None

    def backward(
        self,
        x: Array,
        gamma: Array,
        gy: Array,
        mean: Array,
        inv_std: Array,
        residual: None,
        axis: Axes,
    ) -> tuple[Array, Array, Array]:
        if not x.size:
            return numpy.empty_like(x), numpy.zeros_like(gamma), numpy.zeros_like(gamma)
        channels = Channels(x.shape, axis)
        values, gradients = channels.view(x), channels.view(gy)
        center, inverse = vector(mean), vector(inv_std)
        gbeta, products = (numpy.empty(channels.channels, f) for _ in range(2))
        channels.reduce(SUMS, values, gradients, center, gbeta, products)
        ggamma = products * inverse
        share = f(1 / channels.count)
        gx = numpy.empty(channels.shape, f)
        slope, shift = ggamma * inverse * -share, gbeta * share
        factor = vector(gamma) * inverse
        channels.map(GRADIENT, values, gradients, center, factor, slope, shift, gx)
        return result(gx, x), result(ggamma, gamma), result(gbeta, gamma)


class FixedBatchNormalizationKernel:
    """Kernel of ``fixed_batch_normalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(
        self, x: Array, gamma: Array, beta: Array, mean: Array, var: Array, eps: float, axis: Axes
    ) -> Array:
        if not x.size:
            return x.copy()
        channels = Channels(x.shape, axis)
        factor = vector(gamma) / numpy.sqrt(vector(var) + f(eps))
        y = numpy.empty(channels.shape, f)
        channels.map(NORMALIZE, channels.view(x), vector(mean), factor, vector(beta), y)
        return result(y, x)

    def backward(
        self, x: Array, gamma: Array, mean: Array, var: Array, gy: Array, eps: float, axis: Axes
    ) -> tuple[Array, Array, Array, Array, Array]:
        channels = Channels(x.shape, axis)
        inverse = 1 / numpy.sqrt(vector(var) + f(eps))
        factor = vector(gamma) * inverse
        gbeta, products = (numpy.zeros(channels.channels, f) for _ in range(2))
        gx = numpy.empty(channels.shape, f)
        if x.size:
            values, gradients = channels.view(x), channels.view(gy)
            zeros = numpy.zeros_like(factor)
            channels.reduce(SUMS, values, gradients, vector(mean), gbeta, products)
            # The general gradient without the terms of the statistics.
            channels.map(NORMALIZE, gradients, zeros, factor, zeros, gx)
        ggamma = products * inverse
        gvar = ggamma * factor * inverse * f(-0.5)
        return (
            result(gx, x),
            result(ggamma, gamma),
            result(gbeta, gamma),
            result(-factor * gbeta, mean),
            result(gvar, var),
        )
