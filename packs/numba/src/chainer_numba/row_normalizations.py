"""Kernels of layer, RMS and group normalization: a row stays in the cache from first to last."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy
from chainer.typing import Array

from chainer_numba.batch_normalizations import vector
from chainer_numba.launching import dense, launch, parts_of, result, summing

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _ONE = f(0), f(1)

#: Time of an element, in units of a pass over memory.
COST = 3


@summing
def layer_normalization(part, start, stop, x, gamma, beta, eps, y, mean, inv_std):
    size = x.shape[1]
    for row in range(start, stop):
        total = _ZERO
        for i in range(size):
            total += x[row, i]
        center = total / f(size)
        squares = _ZERO
        for i in range(size):
            distance = x[row, i] - center
            squares += distance * distance
        inverse = _ONE / numpy.sqrt(squares / f(size) + f(eps))
        for i in range(size):
            y[row, i] = (x[row, i] - center) * inverse * gamma[i] + beta[i]
        mean[row] = center
        inv_std[row] = inverse


@summing
def layer_normalization_gradient(part, start, stop, x, gamma, gy, mean, inv_std, gx, ggamma, gbeta):
    size = x.shape[1]
    for i in range(size):
        ggamma[part, i] = _ZERO
        gbeta[part, i] = _ZERO
    for row in range(start, stop):
        center, inverse = mean[row], inv_std[row]
        total, dot = _ZERO, _ZERO
        for i in range(size):
            scaled = gy[row, i] * gamma[i]
            total += scaled
            dot += scaled * ((x[row, i] - center) * inverse)
        total /= f(size)
        dot /= f(size)
        for i in range(size):
            normalized = (x[row, i] - center) * inverse
            gx[row, i] = (gy[row, i] * gamma[i] - normalized * dot - total) * inverse
            ggamma[part, i] += gy[row, i] * normalized
            gbeta[part, i] += gy[row, i]


def _is_dense(x: Array) -> bool:
    """Returns whether an array is contiguous and of float32, so that loops take it."""
    return x.dtype == f and x.flags.carray


class LayerNormalizationKernel:
    """Kernel of ``layer_normalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(
        self, x: Array, gamma: Array, beta: Array, eps: float
    ) -> tuple[Array, Array, Array, None]:
        rows = len(x)
        y, mean, inv_std = numpy.empty(x.shape, f), numpy.empty(rows, f), numpy.empty(rows, f)
        if rows == 1 and _is_dense(x) and _is_dense(gamma) and _is_dense(beta):
            # Without calls: a token that is decoded needs two normalizations for each layer.
            layer_normalization(0, 0, 1, x, gamma, beta, float(eps), y, mean, inv_std)
            return y, mean, inv_std, None
        # The loop only reads the vectors, so that they need no copy.
        arrays = dense(x), dense(gamma), dense(beta), float(eps), y, mean, inv_std
        launch(layer_normalization, rows, x.size * COST, *arrays)
        return result(y, x), mean, inv_std, None

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array, residual: None
    ) -> tuple[Array, Array, Array]:
        rows, size = x.shape
        gx = numpy.empty(x.shape, f)
        # One row of sums for each thread.
        shape = parts_of(rows, x.size * COST), size
        ggamma, gbeta = numpy.empty(shape, f), numpy.empty(shape, f)
        arrays = dense(x), vector(gamma), dense(gy), vector(mean), vector(inv_std)
        loop = layer_normalization_gradient
        launch(loop, rows, x.size * COST, *arrays, gx, ggamma, gbeta)
        sums = ggamma.sum(axis=0), gbeta.sum(axis=0)
        return result(gx, x), result(sums[0], gamma), result(sums[1], gamma)


@summing
def rms_normalization(part, start, stop, x, gamma, eps, y, inv_rms):
    size = x.shape[1]
    for row in range(start, stop):
        squares = _ZERO
        for i in range(size):
            squares += x[row, i] * x[row, i]
        inverse = _ONE / numpy.sqrt(squares / f(size) + f(eps))
        for i in range(size):
            y[row, i] = x[row, i] * inverse * gamma[i]
        inv_rms[row] = inverse


@summing
def rms_normalization_gradient(part, start, stop, x, gamma, gy, inv_rms, gx, ggamma):
    size = x.shape[1]
    for i in range(size):
        ggamma[part, i] = _ZERO
    for row in range(start, stop):
        inverse = inv_rms[row]
        dot = _ZERO
        for i in range(size):
            dot += gy[row, i] * gamma[i] * x[row, i]
        factor = dot * inverse * inverse * inverse / f(size)
        for i in range(size):
            gx[row, i] = gy[row, i] * gamma[i] * inverse - x[row, i] * factor
            ggamma[part, i] += gy[row, i] * x[row, i] * inverse


class RMSNormalizationKernel:
    """Kernel of ``rms_normalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, x: Array, gamma: Array, eps: float) -> tuple[Array, Array]:
        size = x.shape[-1]
        if x.size == size and x.ndim == 2 and _is_dense(x) and _is_dense(gamma):
            y, inv_rms = numpy.empty((1, size), f), numpy.empty((1, 1), f)
            rms_normalization(0, 0, 1, x, gamma, float(eps), y, inv_rms.reshape(1))
            return y, inv_rms
        rows = prod(x.shape[:-1])
        y, inv_rms = numpy.empty((rows, size), f), numpy.empty(rows, f)
        arrays = dense(x).reshape(rows, size), dense(gamma), float(eps), y, inv_rms
        launch(rms_normalization, rows, x.size * COST, *arrays)
        return result(y, x), inv_rms.reshape(*x.shape[:-1], 1)

    def backward(self, x: Array, gamma: Array, gy: Array, inv_rms: Array) -> tuple[Array, Array]:
        size = x.shape[-1]
        rows = prod(x.shape[:-1])
        gx = numpy.empty((rows, size), f)
        # One row of sums for each thread.
        ggamma = numpy.empty((parts_of(rows, x.size * COST), size), f)
        arrays = dense(x).reshape(rows, size), vector(gamma), dense(gy).reshape(rows, size)
        loop = rms_normalization_gradient
        launch(loop, rows, x.size * COST, *arrays, vector(inv_rms), gx, ggamma)
        return result(gx, x), result(ggamma.sum(axis=0), gamma)


@summing
def group_normalization(part, start, stop, x, gamma, beta, eps, y, mean, inv_std):
    _, channels, pixels = x.shape
    groups = len(gamma) // channels
    size = f(channels * pixels)
    for row in range(start, stop):
        total = _ZERO
        for c in range(channels):
            for i in range(pixels):
                total += x[row, c, i]
        center = total / size
        squares = _ZERO
        for c in range(channels):
            for i in range(pixels):
                distance = x[row, c, i] - center
                squares += distance * distance
        inverse = _ONE / numpy.sqrt(squares / size + f(eps))
        for c in range(channels):
            k = row % groups * channels + c
            factor, summand = inverse * gamma[k], beta[k]
            for i in range(pixels):
                y[row, c, i] = (x[row, c, i] - center) * factor + summand
        mean[row] = center
        inv_std[row] = inverse


@summing
def group_normalization_gradient(part, start, stop, x, gamma, gy, mean, inv_std, gx, ggamma, gbeta):
    _, channels, pixels = x.shape
    groups = len(gamma) // channels
    size = f(channels * pixels)
    for k in range(len(gamma)):
        ggamma[part, k] = _ZERO
        gbeta[part, k] = _ZERO
    for row in range(start, stop):
        center, inverse = mean[row], inv_std[row]
        by_mean, by_var = _ZERO, _ZERO
        for c in range(channels):
            k = row % groups * channels + c
            total, dot = _ZERO, _ZERO
            for i in range(pixels):
                total += gy[row, c, i]
                dot += gy[row, c, i] * (x[row, c, i] - center)
            dot *= inverse
            gbeta[part, k] += total
            ggamma[part, k] += dot
            by_mean += total * gamma[k]
            by_var += dot * gamma[k]
        by_mean *= inverse / size
        by_var *= inverse * inverse / size
        for c in range(channels):
            factor = gamma[row % groups * channels + c] * inverse
            for i in range(pixels):
                centered = x[row, c, i] - center
                gx[row, c, i] = gy[row, c, i] * factor - centered * by_var - by_mean


class GroupNormalizationKernel:
    """Kernel of ``group_normalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(
        self, x: Array, gamma: Array, beta: Array, groups: int, eps: float
    ) -> tuple[Array, Array, Array]:
        rows = len(x) * groups
        view = _rows(x, groups)
        y, mean, inv_std = numpy.empty(view.shape, f), numpy.empty(rows, f), numpy.empty(rows, f)
        arrays = view, vector(gamma), vector(beta), float(eps), y, mean, inv_std
        launch(group_normalization, rows, x.size * COST, *arrays)
        shape = len(x), groups
        return result(y, x), mean.reshape(shape), inv_std.reshape(shape)

    def backward(
        self, x: Array, gamma: Array, gy: Array, mean: Array, inv_std: Array
    ) -> tuple[Array, Array, Array]:
        rows, groups = mean.size, mean.shape[1]
        view = _rows(x, groups)
        gx = numpy.empty(view.shape, f)
        # One row of sums for each thread.
        shape = parts_of(rows, x.size * COST), gamma.size
        ggamma, gbeta = numpy.empty(shape, f), numpy.empty(shape, f)
        arrays = view, vector(gamma), _rows(gy, groups), vector(mean), vector(inv_std)
        loop = group_normalization_gradient
        launch(loop, rows, x.size * COST, *arrays, gx, ggamma, gbeta)
        sums = ggamma.sum(axis=0), gbeta.sum(axis=0)
        return result(gx, x), result(sums[0], gamma), result(sums[1], gamma)


def _rows(x: Array, groups: int) -> Array:
    """Returns the view ``(samples * groups, channels of a group, pixels)``."""
    channels = x.shape[1] // groups
    return dense(x).reshape(len(x) * groups, channels, prod(x.shape[2:]))
