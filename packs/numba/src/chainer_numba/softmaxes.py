"""Kernels of the softmax and its logarithm.

Arrays are viewed as ``(outer, classes, inner)``. With ``inner`` 1 a row stays in the first-level
cache while it is read several times. Otherwise some neighboring positions are computed together.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch, result, summing
from chainer_numba.vector_math import exp_of_negative, larger, maximum

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO, _LOWEST = f(0), f(-numpy.inf)

#: Positions that are computed together. Rows of 64 floats are four lines of the cache.
POSITIONS = 64
#: Time of an element, in units of a comparison.
COST = 6


@summing
def softmax(part, start, stop, x, y):
    for row in range(start, stop):
        top = maximum(x[row])
        total = _ZERO
        for k in range(x.shape[1]):
            y[row, k] = exp_of_negative(x[row, k] - top)
        for k in range(x.shape[1]):
            total += y[row, k]
        for k in range(x.shape[1]):
            y[row, k] /= total


@summing
def softmax_gradient(part, start, stop, y, gy, gx):
    for row in range(start, stop):
        total = _ZERO
        for k in range(y.shape[1]):
            total += y[row, k] * gy[row, k]
        for k in range(y.shape[1]):
            gx[row, k] = y[row, k] * (gy[row, k] - total)


@summing
def log_softmax(part, start, stop, x, y):
    for row in range(start, stop):
        top = maximum(x[row])
        total = _ZERO
        for k in range(x.shape[1]):
            total += exp_of_negative(x[row, k] - top)
        logarithm = numpy.log(total)
        for k in range(x.shape[1]):
            y[row, k] = (x[row, k] - top) - logarithm


@summing
def log_softmax_gradient(part, start, stop, y, gy, gx):
    for row in range(start, stop):
        total = _ZERO
        for k in range(y.shape[1]):
            total += gy[row, k]
        for k in range(y.shape[1]):
            gx[row, k] = gy[row, k] - exp_of_negative(y[row, k]) * total


@compiled
def tops_and_sums(x, outer, first, last, tops, sums):
    """Writes maxima over the classes, and sums of exponentials relative to them."""
    n = last - first
    for i in range(n):
        tops[i] = _LOWEST
        sums[i] = _ZERO
    # Slices, because an index like first + i may be negative for all that LLVM knows.
    for k in range(x.shape[1]):
        row = x[outer, k, first:last]
        for i in range(len(row)):
            tops[i] = larger(row[i], tops[i])
    for k in range(x.shape[1]):
        row = x[outer, k, first:last]
        for i in range(len(row)):
            sums[i] += exp_of_negative(row[i] - tops[i])


@compiled
def softmax_of_positions(part, start, stop, x, y):
    tops, sums = numpy.empty(POSITIONS, f), numpy.empty(POSITIONS, f)
    for outer in range(start, stop):
        for first in range(0, x.shape[2], POSITIONS):
            last = min(first + POSITIONS, x.shape[2])
            tops_and_sums(x, outer, first, last, tops, sums)
            for k in range(x.shape[1]):
                source, target = x[outer, k, first:last], y[outer, k, first:last]
                for i in range(len(source)):
                    target[i] = exp_of_negative(source[i] - tops[i]) / sums[i]


@compiled
def softmax_gradient_of_positions(part, start, stop, y, gy, gx):
    sums = numpy.empty(POSITIONS, f)
    for outer in range(start, stop):
        for first in range(0, y.shape[2], POSITIONS):
            last = min(first + POSITIONS, y.shape[2])
            sums[:] = _ZERO
            for k in range(y.shape[1]):
                out, gradient = y[outer, k, first:last], gy[outer, k, first:last]
                for i in range(len(out)):
                    sums[i] += out[i] * gradient[i]
            for k in range(y.shape[1]):
                out, gradient = y[outer, k, first:last], gy[outer, k, first:last]
                target = gx[outer, k, first:last]
                for i in range(len(out)):
                    target[i] = out[i] * (gradient[i] - sums[i])


@compiled
def log_softmax_of_positions(part, start, stop, x, y):
    tops, sums = numpy.empty(POSITIONS, f), numpy.empty(POSITIONS, f)
    for outer in range(start, stop):
        for first in range(0, x.shape[2], POSITIONS):
            last = min(first + POSITIONS, x.shape[2])
            tops_and_sums(x, outer, first, last, tops, sums)
            for i in range(last - first):
                sums[i] = numpy.log(sums[i])
            for k in range(x.shape[1]):
                source, target = x[outer, k, first:last], y[outer, k, first:last]
                for i in range(len(source)):
                    target[i] = (source[i] - tops[i]) - sums[i]


@compiled
def log_softmax_gradient_of_positions(part, start, stop, y, gy, gx):
    sums = numpy.empty(POSITIONS, f)
    for outer in range(start, stop):
        for first in range(0, y.shape[2], POSITIONS):
            last = min(first + POSITIONS, y.shape[2])
            sums[:] = _ZERO
            for k in range(y.shape[1]):
                gradient = gy[outer, k, first:last]
                for i in range(len(gradient)):
                    sums[i] += gradient[i]
            for k in range(y.shape[1]):
                out, gradient = y[outer, k, first:last], gy[outer, k, first:last]
                target = gx[outer, k, first:last]
                for i in range(len(out)):
                    target[i] = gradient[i] - exp_of_negative(out[i]) * sums[i]


class SoftmaxKernel:
    """Kernel of ``softmax``.

    Args:
        backend: Backend of the arrays.
    """

    loops: tuple[Any, ...] = (softmax, softmax_of_positions)
    gradient_loops: tuple[Any, ...] = (softmax_gradient, softmax_gradient_of_positions)

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, x: Array, axis: int) -> Array:
        return _run(self.loops, axis, x)

    def backward(self, y: Array, gy: Array, axis: int) -> Array:
        return _run(self.gradient_loops, axis, y, gy)


class LogSoftmaxKernel(SoftmaxKernel):
    """Kernel of ``log_softmax``."""

    loops = (log_softmax, log_softmax_of_positions)
    gradient_loops = (log_softmax_gradient, log_softmax_gradient_of_positions)


def _run(loops: tuple[Any, ...], axis: int, *arrays: Array) -> Array:
    first = arrays[0]
    if not first.size:
        return first.copy()
    axis %= first.ndim
    outer, classes = prod(first.shape[:axis]), first.shape[axis]
    inner = prod(first.shape[axis + 1 :])
    shape = (outer, classes) if inner == 1 else (outer, classes, inner)
    y = numpy.empty(shape, f)
    views = [dense(array).reshape(shape) for array in arrays]
    launch(loops[inner > 1], outer, first.size * COST, *views, y)
    return result(y, first)
