"""Kernels of poolings, in one, two and three dimensions.

Images are seen as ``(batch * channels, depth, height, width)``: missing dimensions have the length
one. A thread works on some channels.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch, summing
from chainer_numba.vector_math import larger, maximum

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
# Types of indices: unsigned ones do not count from the end, 32 bits are the width of a float.
U, POSITION = numpy.uintp, numpy.int32
_ZERO, _LOWEST = f(0), f(-numpy.inf)

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
def _row_maxima(target, row, ksize, stride):
    """Writes the maxima of the windows of a row; neighboring windows are a vector."""
    # The usual sizes are constants: only then can LLVM load vectors with gaps. Unsigned indices
    # cannot be negative, that is, count from the end.
    if ksize == 2 and stride == 2:
        for w in range(len(target)):
            target[w] = larger(row[U(2 * w + 1)], row[U(2 * w)])
    elif ksize == 3 and stride == 2:
        for w in range(len(target)):
            pair = larger(row[U(2 * w + 1)], row[U(2 * w)])
            target[w] = larger(row[U(2 * w + 2)], pair)
    else:
        for w in range(len(target)):
            target[w] = row[U(w * stride)]
        for k in range(1, ksize):
            for w in range(len(target)):
                target[w] = larger(row[U(w * stride + k)], target[w])


@compiled
def _row_sums(target, row, factors, ksize, stride):
    """Writes the sums of the windows of a row, times their weights."""
    if ksize == 2 and stride == 2:
        for w in range(len(target)):
            target[w] = (row[U(2 * w)] + row[U(2 * w + 1)]) * factors[w]
    elif ksize == 3 and stride == 2:
        for w in range(len(target)):
            target[w] = (row[U(2 * w)] + row[U(2 * w + 1)] + row[U(2 * w + 2)]) * factors[w]
    else:
        for w in range(len(target)):
            target[w] = row[U(w * stride)]
        for k in range(1, ksize):
            for w in range(len(target)):
                target[w] += row[U(w * stride + k)]
        for w in range(len(target)):
            target[w] *= factors[w]


@compiled
def _matches_into(target, source, tops, first, last, stride, at, position):
    """Writes the position of the elements that equal the maxima; NaN equals itself."""
    if stride == 1:
        for w in range(first, last):
            value, top = source[U(w + at)], tops[U(w)]
            same = (value == top) | ((value != value) & (top != top))
            target[U(w)] = POSITION(position + w + at) if same else target[U(w)]
    elif stride == 2:
        for w in range(first, last):
            value, top = source[U(2 * w + at)], tops[U(w)]
            same = (value == top) | ((value != value) & (top != top))
            target[U(w)] = POSITION(position + 2 * w + at) if same else target[U(w)]
    else:
        for w in range(first, last):
            value, top = source[U(w * stride + at)], tops[U(w)]
            same = (value == top) | ((value != value) & (top != top))
            target[U(w)] = POSITION(position + w * stride + at) if same else target[U(w)]


@compiled
def max_pooling(part, start, stop, x, y, ksize, stride, pad):
    _, depth, height, width = x.shape
    columns = y.shape[3]
    # A row as long as its windows reach, with the padding.
    length = (columns - 1) * stride[2] + ksize[2]
    row = numpy.empty(max(length, pad[2] + width), f)
    row[:] = _LOWEST
    inner = row[pad[2] : min(pad[2] + width, length)]
    # Windows of one row without padding read the image itself.
    direct = ksize[0] * ksize[1] == 1 and pad[0] + pad[1] + pad[2] == 0 and length <= width
    for image in range(start, stop):
        for d in range(y.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(y.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                if direct:
                    _row_maxima(y[image, d, h], x[image, d0, h0], ksize[2], stride[2])
                    continue
                inner[:] = _LOWEST
                for z in range(d0, d1):
                    for v in range(h0, h1):
                        source = x[image, z, v]
                        for u in range(len(inner)):
                            inner[u] = larger(source[u], inner[u])
                if columns == 1:
                    y[image, d, h, 0] = maximum(row[:length])
                else:
                    _row_maxima(y[image, d, h], row, ksize[2], stride[2])


@compiled
def max_pooling_gradient(part, start, stop, x, y, gy, gx, ksize, stride, pad):
    _, depth, height, width = x.shape
    columns = y.shape[3]
    found = numpy.empty(columns, POSITION)
    for image in range(start, stop):
        gx[image] = _ZERO
        flat_gradient = gx[image].reshape(-1)
        for d in range(gy.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(gy.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                found[:] = -1
                tops, gradients = y[image, d, h], gy[image, d, h]
                # From the last element to the first, so that the first match is kept.
                for z in range(d1 - 1, d0 - 1, -1):
                    for v in range(h1 - 1, h0 - 1, -1):
                        source, position = x[image, z, v], (z * height + v) * width
                        for k in range(ksize[2] - 1, -1, -1):
                            w0, w1 = _inside(k, stride[2], pad[2], width, columns)
                            at = k - pad[2]
                            _matches_into(found, source, tops, w0, w1, stride[2], at, position)
                for w in range(columns):
                    if found[w] >= 0:
                        flat_gradient[U(found[w])] += gradients[w]


@summing
def window_sums(part, start, stop, x, y, weights, ksize, stride, pad):
    """Writes the sums of windows times their weights."""
    _, depth, height, width = x.shape
    columns = y.shape[3]
    length = (columns - 1) * stride[2] + ksize[2]
    row = numpy.zeros(max(length, pad[2] + width), f)
    inner = row[pad[2] : min(pad[2] + width, length)]
    # Windows of one row without padding read the image itself.
    direct = ksize[0] * ksize[1] == 1 and pad[0] + pad[1] + pad[2] == 0 and length <= width
    for image in range(start, stop):
        for d in range(y.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(y.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                if direct:
                    source = x[image, d0, h0]
                    _row_sums(y[image, d, h], source, weights[d, h], ksize[2], stride[2])
                    continue
                inner[:] = _ZERO
                for z in range(d0, d1):
                    for v in range(h0, h1):
                        source = x[image, z, v]
                        for u in range(len(inner)):
                            inner[u] += source[u]
                if columns == 1:
                    total = _ZERO
                    for u in range(length):
                        total += row[u]
                    y[image, d, h, 0] = total * weights[d, h, 0]
                else:
                    _row_sums(y[image, d, h], row, weights[d, h], ksize[2], stride[2])


@compiled
def spread_windows(part, start, stop, y, x, weights, ksize, stride, pad):
    """Adds each element, times its weight, to all elements of its window."""
    _, depth, height, width = x.shape
    columns = y.shape[3]
    long_windows = columns < ksize[2]
    # The usual windows of two: one pass writes both elements, which are neighbors.
    pairs = ksize[2] == 2 and stride[2] == 2 and pad[2] == 0 and 2 * columns <= width
    values = numpy.empty(columns, f)
    for image in range(start, stop):
        x[image] = _ZERO
        for d in range(y.shape[1]):
            d0, d1 = _clipped(d, stride[0], pad[0], ksize[0], depth)
            for h in range(y.shape[2]):
                h0, h1 = _clipped(h, stride[1], pad[1], ksize[1], height)
                source, factors = y[image, d, h], weights[d, h]
                for w in range(columns):
                    values[w] = source[w] * factors[w]
                for z in range(d0, d1):
                    for v in range(h0, h1):
                        target = x[image, z, v]
                        if long_windows:
                            for w in range(columns):
                                w0, w1 = _clipped(w, stride[2], pad[2], ksize[2], width)
                                piece, value = target[w0 : max(w0, w1)], values[w]
                                for u in range(len(piece)):
                                    piece[u] += value
                        elif pairs:
                            for w in range(columns):
                                target[U(2 * w)] += values[w]
                                target[U(2 * w + 1)] += values[w]
                        else:
                            for k in range(ksize[2]):
                                w0, w1 = _inside(k, stride[2], pad[2], width, columns)
                                at = k - pad[2]
                                for w in range(w0, w1):
                                    target[U(w * stride[2] + at)] += values[U(w)]


def triple(values: tuple[int, ...], missing: int) -> Triple:
    """Returns three numbers: the given ones after the values of missing dimensions."""
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

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, x: Array, out_size: tuple[int, ...], geometry: Any) -> tuple[Array, None]:
        y = _empty_images(x, out_size)
        _run(max_pooling, y.size * prod(geometry.ksize), images(x), y, *windows(geometry))
        return _restored(y, x, out_size), None

    def backward(self, x: Array, y: Array, gy: Array, residual: None, geometry: Any) -> Array:
        size = x.shape[2:]
        gx = _empty_images(x, size)
        cost = gy.size * (prod(geometry.ksize) + 8)
        arrays = images(x), images(y), images(gy), gx
        launch(max_pooling_gradient, len(gx), cost, *arrays, *windows(geometry))
        return _restored(gx, x, size)


class AveragePoolingNDKernel:
    """Kernel of ``average_pooling_nd``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
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

    def __init__(self, backend: Backend) -> None:
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
