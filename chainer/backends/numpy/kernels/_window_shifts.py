"""Maxima of sliding windows whose rows are short, by shifts of whole images.

NumPy visits the elements of windows row by row of windows. Where a row has few windows, starting a
row takes longer than its elements. Here the images are one long vector: the maximum of it and of
itself, shifted by one element or by a row, is one run over all images. Positions where no window
starts are computed as well, and are left out at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy

from chainer.backends.operations.poolings import PoolingGeometry
from chainer.core.arrays.chunks import chunks
from chainer.core.typing import Array, Shape

# With at most this many windows in a row, strides and elements in each dimension, shifts took 0.5
# to 0.8 of the time of rows of windows for the maxima, and 0.45 to 1.0 for their positions. With a
# stride of 4 and 64 elements in a row they took up to twice as long (AMD Zen 3, one thread,
# float32, images of 4 x 4 to 128 x 128 and 16 x 16 x 16).
_MOST_WINDOWS, _MOST_STRIDE, _MOST_ELEMENTS = 64, 2, 4
# Images of this many bytes are reduced at a time. With 128 KiB it took 1.5 times as long, because
# each block needs some calls.
_BLOCK_BYTES = 1 << 20


def can_shift(x: Array, geometry: PoolingGeometry, out_size: Shape) -> bool:
    """Returns whether the functions of this module serve windows, and take less time.

    Args:
        x: Images.
        geometry: Geometry of the windows.
        out_size: Number of windows in each dimension.
    """
    ksize, stride, pad = geometry
    return (
        # A recorder has arrays of its own. NumPy computes maxima of half precision one by one, and
        # double precision gains little.
        type(x) is numpy.ndarray
        and x.dtype.char == "f"
        and x.flags.c_contiguous
        and x.size > 0
        and not any(pad)
        and 0 < out_size[-1] <= _MOST_WINDOWS
        and 1 < max(ksize) <= _MOST_ELEMENTS
        and prod(ksize) < 128  # positions are bytes, and so are sums of two of them
        and max(stride) <= _MOST_STRIDE
        and all(
            [
                (m - 1) * s + k <= n
                for n, m, k, s in zip(x.shape[2:], out_size, ksize, stride, strict=True)
            ]
        )
    )


def shifted_maxima(x: Array, geometry: PoolingGeometry, out_size: Shape) -> Array:
    """Returns the maxima of windows.

    Args:
        x: Images that :func:`can_shift` accepts.
        geometry: Geometry of the windows.
        out_size: Number of windows in each dimension.
    """
    y = numpy.empty((*x.shape[:2], *out_size), x.dtype)
    starts = _starts(geometry, out_size)
    for images, target in _blocks(x, y):
        maxima = images.reshape(-1)
        count = maxima.size
        for k, step, _ in _axes(geometry, images.shape[1:]):
            # The last positions have no whole window. No window starts there.
            count -= (k - 1) * step
            top, maxima = maxima, numpy.empty(images.size, x.dtype)
            numpy.maximum(top[:count], top[step : step + count], out=maxima[:count])
            for i in range(2, k):
                shifted = top[i * step : i * step + count]
                numpy.maximum(maxima[:count], shifted, out=maxima[:count])
        target[...] = maxima.reshape(images.shape)[starts]
    return y


def has_negative_zeros(x: Array, y: Array) -> bool:
    """Returns whether there is a -0.0 among the images, and a maximum that is zero.

    Such a maximum may be 0.0 or -0.0, by the order in which the elements are compared.

    Args:
        x: Images.
        y: Maxima of their windows.
    """
    if y.all():
        return False
    # After a ReLU no element has a sign: one pass over its bits tells it.
    signs = numpy.signbit(x)
    return bool(signs.any()) and bool((signs & (x == 0)).any())


def shifted_codes(x: Array, geometry: PoolingGeometry, out_size: Shape) -> Array:
    """Returns the row-major position of the first maximum in each window, as bytes.

    Args:
        x: Images that :func:`can_shift` accepts. Windows with NaN get any position.
        geometry: Geometry of the windows.
        out_size: Number of windows in each dimension.
    """
    y = numpy.empty((*x.shape[:2], *out_size), numpy.uint8)
    starts = _starts(geometry, out_size)
    buffers: _Buffers | None = None
    for images, target in _blocks(x, y):
        if buffers is None:
            buffers = _Buffers(images)
        target[...] = buffers.codes(images, geometry).reshape(images.shape)[starts]
    return y


class _Buffers:
    """Memory for the positions of the maxima of a block of images.

    Args:
        images: The first block, which is the largest.
    """

    def __init__(self, images: Array) -> None:
        size = images.size
        # The result of one axis is read while the one of the next axis is written.
        self._maxima = [numpy.empty(size, images.dtype) for _ in range(2)]
        self._codes = [numpy.empty(size, numpy.uint8) for _ in range(2)]
        self._own = numpy.empty(size, numpy.uint8)

    def codes(self, images: Array, geometry: PoolingGeometry) -> Array:
        """Returns the position of the first maximum in the window that starts at each element.

        Args:
            images: Images of shape ``(N, d_1, ...)``.
            geometry: Geometry of the windows.
        """
        elements: Array = images.reshape(-1)
        earlier: Array = None
        count = elements.size
        axes = _axes(geometry, images.shape[1:])
        for k, step, unit in axes:
            count -= (k - 1) * step
            (maxima, spare), (codes, spare_codes) = self._maxima, self._codes
            top, own = elements[:count], self._own[:count]
            for i in range(1, k):
                shifted = elements[i * step : i * step + count]
                target = codes[:count]
                # Later elements have larger positions, so that a larger element always replaces
                # the position, and a maximum of bytes serves as a selection.
                if earlier is None and i == 1:
                    numpy.greater(shifted, top, out=target.view(bool))
                else:
                    numpy.greater(shifted, top, out=own.view(bool))
                    if earlier is None:
                        own *= numpy.uint8(i)
                    else:
                        # In rows further down, the position in the row counts as well.
                        position = earlier[i * step : i * step + count] + numpy.uint8(i * unit)
                        own *= position
                    before = earlier[:count] if earlier is not None and i == 1 else target
                    numpy.maximum(before, own, out=target)
                top = numpy.maximum(top, shifted, out=maxima[:count])
            elements, earlier = maxima, codes
            self._maxima, self._codes = [spare, maxima], [spare_codes, codes]
        return earlier[: images.size]


def _blocks(x: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """Yields images ``(N, d_1, ...)`` and their outputs, as many as fit into the cache."""
    images, outputs = x.reshape(-1, *x.shape[2:]), y.reshape(-1, *y.shape[2:])
    for block in chunks(len(images), images[0].nbytes, _BLOCK_BYTES):
        yield images[block], outputs[block]


def _axes(geometry: PoolingGeometry, in_size: Shape) -> list[tuple[int, int, int]]:
    """Returns the axes along which windows have several elements, the last axis first.

    Returns:
        list: For each axis the number of elements, the distance of neighbors in the images, and the
            distance of their row-major positions in the windows.
    """
    found: list[tuple[int, int, int]] = []
    step = unit = 1
    for k, n in zip(reversed(geometry.ksize), reversed(in_size), strict=True):
        if k > 1:
            found.append((k, step, unit))
        step, unit = step * n, unit * k
    return found


def _starts(geometry: PoolingGeometry, out_size: Shape) -> tuple[slice, ...]:
    """Returns the index of the positions of images where windows start."""
    ends = zip(out_size, geometry.stride, strict=True)
    return (slice(None), *[slice(0, (m - 1) * s + 1, s) for m, s in ends])
