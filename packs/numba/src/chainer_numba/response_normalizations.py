"""Kernel of local response normalization: some positions of all channels at a time."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch, result

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _ONE = f(0), f(1)

#: Time of an element, in units of a pass over memory.
COST = 4


@compiled
def scales(part, start, stop, x, half, k, alpha, scale):
    constant, factor = f(k), f(alpha)
    _, channels, positions = x.shape
    for n in range(start, stop):
        for c in range(channels):
            for i in range(positions):
                scale[n, c, i] = _ZERO
            for other in range(max(c - half, 0), min(c + half + 1, channels)):
                for i in range(positions):
                    scale[n, c, i] += x[n, other, i] * x[n, other, i]
            for i in range(positions):
                scale[n, c, i] = scale[n, c, i] * factor + constant


@compiled
def _fraction(values, beta, n, c, powers):
    """Writes ``values ** -beta`` of a row."""
    # The usual exponents are computed as roots, which LLVM vectorizes.
    if beta == 0.75:
        for i in range(len(powers)):
            root = numpy.sqrt(values[n, c, i])
            powers[i] = _ONE / (root * numpy.sqrt(root))
    elif beta == 0.5:
        for i in range(len(powers)):
            powers[i] = _ONE / numpy.sqrt(values[n, c, i])
    else:
        for i in range(len(powers)):
            powers[i] = f(values[n, c, i] ** f(-beta))


@compiled
def normalize(part, start, stop, x, scale, beta, y):
    powers = numpy.empty(x.shape[2], f)
    for n in range(start, stop):
        for c in range(x.shape[1]):
            _fraction(scale, beta, n, c, powers)
            for i in range(x.shape[2]):
                y[n, c, i] = x[n, c, i] * powers[i]


@compiled
def gradient(part, start, stop, x, y, gy, scale, half, alpha, beta, gx):
    factor = f(-2 * alpha * beta)
    _, channels, positions = x.shape
    powers, shared = numpy.empty(positions, f), numpy.empty((channels, positions), f)
    for n in range(start, stop):
        for c in range(channels):
            for i in range(positions):
                shared[c, i] = y[n, c, i] * gy[n, c, i] / scale[n, c, i]
        for c in range(channels):
            _fraction(scale, beta, n, c, powers)
            for i in range(positions):
                gx[n, c, i] = _ZERO
            for other in range(max(c - half, 0), min(c + half + 1, channels)):
                for i in range(positions):
                    gx[n, c, i] += shared[other, i]
            for i in range(positions):
                gx[n, c, i] = gx[n, c, i] * x[n, c, i] * factor + powers[i] * gy[n, c, i]


class ResponseNormalizationKernel:
    """Kernel of ``local_response_normalization``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, x: Array, parameters: Any) -> tuple[Array, Array]:
        n, k, alpha, beta = parameters
        view = _view(x)
        scale, y = numpy.empty(view.shape, f), numpy.empty(view.shape, f)
        elements = x.size * (COST + n)
        launch(scales, len(view), elements, view, n // 2, float(k), float(alpha), scale)
        launch(normalize, len(view), elements, view, scale, float(beta), y)
        return result(y, x), scale

    def backward(self, x: Array, y: Array, gy: Array, residual: Array, parameters: Any) -> Array:
        n, _, alpha, beta = parameters
        view = _view(x)
        gx = numpy.empty(view.shape, f)
        arrays = view, _view(y), _view(gy), residual
        numbers = n // 2, float(alpha), float(beta)
        launch(gradient, len(view), x.size * (COST + n), *arrays, *numbers, gx)
        return result(gx, x)


def _view(x: Array) -> Array:
    return dense(x).reshape(*x.shape[:2], prod(x.shape[2:]))
