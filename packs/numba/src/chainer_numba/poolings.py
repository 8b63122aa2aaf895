"""Kernels of poolings, in one, two and three dimensions.

Images are seen as ``(batch * channels, depth, height, width)``: missing dimensions have the length
one. A thread works on some channels.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch
from chainer_numba.vector_math import larger

f = numpy.float32
_ZERO, _ONE = f(0), f(1)
_LOWEST = f(-numpy.inf)

Triple = tuple[int, int, int]


@compiled
def _clipped(position, stride, pad, ksize, length):
    """Returns the part of a window that is inside of the image."""
    first = position * stride - pad
    return max(first, 0), min(first + ksize, length)


@compiled
def _inside(offset, stride, pad, length, count):
    """Returns the windows whose element at an offset is inside of the image."""
    # position * stride - pad + offset >= 0, and less than length
    first = max(-((offset - pad) // stride), 0)
    last = min((length - 1 - offset + pad) // stride + 1, count)
    return first, max(last, first)


@compiled
def max_pooling(part, start, stop, x, y, ksize, stride, pad):
    _, depth, height, width = x.shape
    columns = y.shape[3]
    for image in range(start, stop):
        for d in range(y.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(y.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                for w in range(columns):
                    y[image, d, h, w] = _LOWEST
                for z in range(d0, d1):
                    for v in range(h0, h1):
                        # Columns in the inner loop: neighboring windows are a vector.
                        for k in range(ksize[2]):
                            w0, w1 = _inside(k, stride[2], pad[2], width, columns)
                            at = k - pad[2]
                            for w in range(w0, w1):
                                y[image, d, h, w] = larger(
                                    x[image, z, v, w * stride[2] + at], y[image, d, h, w]
                                )


@compiled
def max_pooling_gradient(part, start, stop, x, gy, gx, ksize, stride, pad):
    _, depth, height, width = x.shape
    for image in range(start, stop):
        gx[image] = _ZERO
        for d in range(gy.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(gy.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                for w in range(gy.shape[3]):
                    w0, w1 = _clipped(w, stride[2], pad[2], ksize[2], width)
                    top, bz, bv, bw = _LOWEST, -1, 0, 0
                    for z in range(d0, d1):
                        for v in range(h0, h1):
                            for u in range(w0, w1):
                                value = x[image, z, v, u]
                                # The first maximum; the first NaN if there is one.
                                better = (value > top) | (bz < 0) | ((value != value) & (top == top))
                                top = value if better else top
                                bz = z if better else bz
                                bv = v if better else bv
                                bw = u if better else bw
                    if bz >= 0:
                        gx[image, bz, bv, bw] += gy[image, d, h, w]


@compiled
def window_sums(part, start, stop, x, y, weights, ksize, stride, pad):
    """Writes the sums of windows times their weights."""
    _, depth, height, width = x.shape
    columns = y.shape[3]
    for image in range(start, stop):
        for d in range(y.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(y.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                for w in range(columns):
                    y[image, d, h, w] = _ZERO
                for z in range(d0, d1):
                    for v in range(h0, h1):
                        for k in range(ksize[2]):
                            w0, w1 = _inside(k, stride[2], pad[2], width, columns)
                            at = k - pad[2]
                            for w in range(w0, w1):
                                y[image, d, h, w] += x[image, z, v, w * stride[2] + at]
                for w in range(columns):
                    y[image, d, h, w] *= weights[d, h, w]


@compiled
def spread_windows(part, start, stop, y, x, weights, ksize, stride, pad):
    """Adds each element, times its weight, to all elements of its window."""
    _, depth, height, width = x.shape
    columns = y.shape[3]
    for image in range(start, stop):
        x[image] = _ZERO
        for d in range(y.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(y.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                for z in range(d0, d1):
                    for v in range(h0, h1):
                        for k in range(ksize[2]):
                            w0, w1 = _inside(k, stride[2], pad[2], width, columns)
                            at = k - pad[2]
                            for w in range(w0, w1):
                                value = y[image, d, h, w] * weights[d, h, w]
                                x[image, z, v, w * stride[2] + at] += value


def triple(values: tuple[int, ...], missing: int) -> Triple:
    """Returns three numbers: the given ones after those of missing dimensions."""
    first, second, third = (missing,) * (3 - len(values)) + tuple(map(int, values))
    return first, second, third


def images(x: Array) -> Array:
    """Returns the view ``(batch * channels, depth, height, width)`` in float32."""
    return dense(x).reshape(prod(x.shape[:2]), *triple(x.shape[2:], 1))


def windows(geometry: Any) -> tuple[Triple, Triple, Triple]:
    """Returns sizes, strides and paddings in three dimensions."""
    return triple(geometry.ksize, 1), triple(geometry.stride, 1), triple(geometry.pad, 0)


def _empty_images(like: Array, size: tuple[int, ...]) -> Array:
    return numpy.empty((prod(like.shape[:2]), *triple(size, 1)), f)


def _run(loop: Any, elements: int, first: Array, second: Array, *arguments: Any) -> None:
    launch(loop, len(first), elements, first, second, *arguments)


def _restored(y: Array, like: Array, size: tuple[int, ...]) -> Array:
    return y.reshape((*like.shape[:2], *size)).astype(like.dtype, copy=False)


class MaxPoolingNDKernel:
    """Kernel of ``max_pooling_nd``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Any) -> None:
        pass

    def forward(self, x: Array, out_size: tuple[int, ...], geometry: Any) -> tuple[Array, None]:
        y = _empty_images(x, out_size)
        _run(max_pooling, y.size * prod(geometry.ksize), images(x), y, *windows(geometry))
        return _restored(y, x, out_size), None

    def backward(self, x: Array, y: Array, gy: Array, residual: None, geometry: Any) -> Array:
        size = x.shape[2:]
        gx = _empty_images(x, size)
        # Four times: the search for the first maximum is not vectorized.
        cost = 4 * gy.size * prod(geometry.ksize)
        arrays = images(x), images(gy), gx
        launch(max_pooling_gradient, len(gx), cost, *arrays, *windows(geometry))
        return _restored(gx, x, size)


class AveragePoolingNDKernel:
    """Kernel of ``average_pooling_nd``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Any) -> None:
        pass

    def forward(
        self, x: Array, out_size: tuple[int, ...], geometry: Any, pad_value: int | None
    ) -> Array:
        y = _empty_images(x, out_size)
        weights = _weights(geometry, x.shape[2:], out_size, pad_value)
        elements = y.size * prod(geometry.ksize)
        _run(window_sums, elements, images(x), y, weights, *windows(geometry))
        return _restored(y, x, out_size)

    def backward(
        self, gy: Array, in_size: tuple[int, ...], geometry: Any, pad_value: int | None
    ) -> Array:
        gx = _empty_images(gy, in_size)
        weights = _weights(geometry, in_size, gy.shape[2:], pad_value)
        elements = gy.size * prod(geometry.ksize)
        _run(spread_windows, elements, images(gy), gx, weights, *windows(geometry))
        return _restored(gx, gy, in_size)


class UnpoolingNDKernel:
    """Kernel of ``unpooling_nd``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Any) -> None:
        pass

    def forward(self, x: Array, out_size: tuple[int, ...], geometry: Any) -> Array:
        y = _empty_images(x, out_size)
        weights = numpy.ones(triple(x.shape[2:], 1), f)
        elements = x.size * prod(geometry.ksize)
        _run(spread_windows, elements, images(x), y, weights, *windows(geometry))
        return _restored(y, x, out_size)

    def backward(self, gy: Array, in_size: tuple[int, ...], geometry: Any) -> Array:
        gx = _empty_images(gy, in_size)
        weights = numpy.ones(triple(in_size, 1), f)
        elements = gx.size * prod(geometry.ksize)
        _run(window_sums, elements, images(gy), gx, weights, *windows(geometry))
        return _restored(gx, gy, in_size)


def _weights(
    geometry: Any, in_size: tuple[int, ...], out_size: tuple[int, ...], pad_value: int | None
) -> Array:
    """Returns the reciprocal of the number of elements of each window that count."""
    shape = triple(out_size, 1)
    if pad_value is not None or not any(geometry.pad):
        return numpy.full(shape, 1 / prod(geometry.ksize), f)
    sizes = zip(*windows(geometry), triple(in_size, 1), shape)
    counts: Array = numpy.ones((1, 1, 1), f)
    for axis, (k, s, p, n, m) in enumerate(sizes):
        starts = numpy.arange(m) * s - p
        inside = numpy.minimum(starts + k, n) - numpy.maximum(starts, 0)
        # The sum of a window without elements is zero, whatever it is divided by.
        along = [1, 1, 1]
        along[axis] = -1
        counts = counts * numpy.maximum(inside, 1).astype(f).reshape(along)
    return 1 / counts
