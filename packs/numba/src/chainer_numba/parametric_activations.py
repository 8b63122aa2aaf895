"""Kernels of activation functions with learned parameters, which serve several elements each.

Arrays are viewed as ``(batch, parameters, inner)``: a parameter is shared by the samples and by
``inner`` neighboring elements. With ``inner`` 1, neighboring parameters are a vector.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.batch_normalizations import vector
from chainer_numba.launching import dense, inlined, launch, parts_of, result, summing
from chainer_numba.vector_math import sigmoid

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _ONE = f(0), f(1)


@inlined
def _prelu(x, w):
    return x if x >= _ZERO else w * x


@inlined
def _prelu_slope(x, w):
    return _ONE if x >= _ZERO else w


@inlined
def _negative(x):
    return _ZERO if x > _ZERO else x


@summing
def prelu(part, start, stop, x, w, y):
    _, count, inner = x.shape
    for n in range(start, stop):
        if inner == 1:
            source, target = x[n].reshape(count), y[n].reshape(count)
            for k in range(count):
                target[k] = _prelu(source[k], w[k])
        else:
            for k in range(count):
                for i in range(inner):
                    y[n, k, i] = _prelu(x[n, k, i], w[k])


@summing
def prelu_gradient(part, start, stop, x, w, gy, gx, gw):
    _, count, inner = x.shape
    sums = gw[part]
    sums[:] = _ZERO
    for n in range(start, stop):
        if inner == 1:
            source, slope, target = x[n].reshape(count), gy[n].reshape(count), gx[n].reshape(count)
            for k in range(count):
                target[k] = slope[k] * _prelu_slope(source[k], w[k])
                sums[k] += _negative(source[k]) * slope[k]
        else:
            for k in range(count):
                total = _ZERO
                for i in range(inner):
                    gx[n, k, i] = gy[n, k, i] * _prelu_slope(x[n, k, i], w[k])
                for i in range(inner):
                    total += _negative(x[n, k, i]) * gy[n, k, i]
                sums[k] += total


@inlined
def _swish_change(x, s):
    """Returns the derivative of ``s``, the sigmoid of ``w x``, by ``w``."""
    return x * s * (_ONE - s)


@summing
def swish(part, start, stop, x, w, y):
    _, count, inner = x.shape
    for n in range(start, stop):
        if inner == 1:
            source, target = x[n].reshape(count), y[n].reshape(count)
            for k in range(count):
                target[k] = source[k] * sigmoid(source[k] * w[k])
        else:
            for k in range(count):
                for i in range(inner):
                    y[n, k, i] = x[n, k, i] * sigmoid(x[n, k, i] * w[k])


@summing
def swish_gradient(part, start, stop, x, w, gy, gx, gw):
    _, count, inner = x.shape
    sums = gw[part]
    sums[:] = _ZERO
    for n in range(start, stop):
        if inner == 1:
            source, slope, target = x[n].reshape(count), gy[n].reshape(count), gx[n].reshape(count)
            for k in range(count):
                s = sigmoid(source[k] * w[k])
                change = _swish_change(source[k], s)
                target[k] = slope[k] * (s + w[k] * change)
                sums[k] += slope[k] * source[k] * change
        else:
            for k in range(count):
                total = _ZERO
                for i in range(inner):
                    gx[n, k, i] = sigmoid(x[n, k, i] * w[k])
                for i in range(inner):
                    total += gy[n, k, i] * x[n, k, i] * _swish_change(x[n, k, i], gx[n, k, i])
                for i in range(inner):
                    s = gx[n, k, i]
                    gx[n, k, i] = gy[n, k, i] * (s + w[k] * _swish_change(x[n, k, i], s))
                sums[k] += total


class ParametricKernel:
    """Base of the kernels.

    Args:
        backend: Backend of the arrays.
    """

    loop: Any
    gradient_loop: Any
    #: Time of an element, in units of a comparison.
    cost = 1

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, x: Array, w: Array) -> Array:
        if not x.size:
            return x.copy()
        view = _view(x, w)
        y = numpy.empty(view.shape, f)
        launch(self.loop, len(view), x.size * self.cost, view, vector(w), y)
        return result(y, x)

    def backward(
        self, x: Array, w: Array, gy: Array, wants_parameter: bool
    ) -> tuple[Array, Array | None]:
        if not x.size:
            return x.copy(), numpy.zeros_like(w) if wants_parameter else None
        view = _view(x, w)
        gx = numpy.empty(view.shape, f)
        # One row of sums for each thread.
        sums = numpy.empty((parts_of(len(view), x.size * self.cost), w.size), f)
        arrays = view, vector(w), _view(gy, w), gx, sums
        launch(self.gradient_loop, len(view), x.size * self.cost, *arrays)
        return result(gx, x), result(sums.sum(axis=0), w) if wants_parameter else None


class PReLUKernel(ParametricKernel):
    """Kernel of ``prelu``."""

    loop = staticmethod(prelu)
    gradient_loop = staticmethod(prelu_gradient)


class SwishKernel(ParametricKernel):
    """Kernel of ``swish``."""

    loop = staticmethod(swish)
    gradient_loop = staticmethod(swish_gradient)
    cost = 4


def _view(x: Array, w: Array) -> Array:
    inner = prod(x.shape[1 + w.ndim :])
    return dense(x).reshape(len(x), w.size, inner)
