"""Kernels of poolings over regions of interest.

The bins of a region are computed by NumPy; a thread pools some channels of all regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO = f(0)


@compiled
def maxima(part, start, stop, x, images, rows, columns, empty, y, indices):
    width = x.shape[3]
    for c in range(start, stop):
        for n in range(len(images)):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    top, at = f(empty), -1
                    for v in range(rows[n, i, 0], rows[n, i, 1]):
                        for u in range(columns[n, j, 0], columns[n, j, 1]):
                            value = x[images[n], c, v, u]
                            # The first maximum; the first NaN if there is one.
                            if at < 0 or value > top or (value != value and top == top):
                                top, at = value, v * width + u
                    y[n, c, i, j] = top
                    indices[n, c, i, j] = at


@compiled
def scatter_maxima(part, start, stop, gy, indices, images, gx):
    # gx has the shape (images, channels, pixels).
    for c in range(start, stop):
        for n in range(len(images)):
            for i in range(gy.shape[2]):
                for j in range(gy.shape[3]):
                    at = indices[n, c, i, j]
                    if at >= 0:
                        gx[images[n], c, at] += gy[n, c, i, j]


@compiled
def means(part, start, stop, x, images, rows, columns, y):
    for c in range(start, stop):
        for n in range(len(images)):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    total = _ZERO
                    for v in range(rows[n, i, 0], rows[n, i, 1]):
                        for u in range(columns[n, j, 0], columns[n, j, 1]):
                            total += x[images[n], c, v, u]
                    count = max(rows[n, i, 1] - rows[n, i, 0], 0)
                    count *= max(columns[n, j, 1] - columns[n, j, 0], 0)
                    y[n, c, i, j] = total / f(max(count, 1))


@compiled
def spread_means(part, start, stop, gy, images, rows, columns, gx):
    for c in range(start, stop):
        for n in range(len(images)):
            for i in range(gy.shape[2]):
                for j in range(gy.shape[3]):
                    count = max(rows[n, i, 1] - rows[n, i, 0], 0)
                    count *= max(columns[n, j, 1] - columns[n, j, 0], 0)
                    share = gy[n, c, i, j] / f(max(count, 1))
                    for v in range(rows[n, i, 0], rows[n, i, 1]):
                        for u in range(columns[n, j, 0], columns[n, j, 1]):
                            gx[images[n], c, v, u] += share


def bins(first: Array, last: Array, count: int, limit: int) -> Array:
    """Returns the first and the last position (excluded) of each bin of each region.

    Args:
        first: First position of each region.
        last: Position behind each region; a region has at least one position.
        count: Number of bins.
        limit: Length of the image, where bins are cut off.
    """
    size = numpy.maximum(last - first, 1)[:, None] / count
    number = numpy.arange(count)
    bounds = numpy.stack([numpy.floor(number * size), numpy.ceil((number + 1) * size)], axis=2)
    return numpy.clip(first[:, None, None] + bounds, 0, limit).astype(numpy.intp)


def rounded(coordinates: Array, scale: float) -> Array:
    """Returns scaled coordinates as integers; ValueError if one is not finite."""
    scaled = coordinates.astype(numpy.float64) * scale
    if not numpy.isfinite(scaled).all():
        raise ValueError("coordinates of regions must be finite")
    return numpy.rint(scaled)


def checked_images(indices: Array, count: int, name: str) -> Array:
    """Returns indices of images that are not negative; IndexError if one is out of range."""
    indices = indices.astype(numpy.intp)
    wrong = numpy.nonzero((indices < -count) | (indices >= count))[0]
    if wrong.size:
        raise IndexError(
            f"{name}: expected indexes less than {count}, the number of images; got "
            f"{indices[wrong[0]]} for region {wrong[0]}"
        )
    return indices % max(count, 1)


def _pool(x: Array, regions: tuple[Array, Array, Array], empty: float) -> tuple[Array, Array]:
    images, rows, columns = regions
    shape = len(images), x.shape[1], rows.shape[1], columns.shape[1]
    y = numpy.empty(shape, f)
    # They are kept as long as the graph: as small as positions allow.
    # The dtype holds minus the number of pixels, so that it holds each position, too.
    indices = numpy.empty(shape, numpy.min_scalar_type(-x.shape[2] * x.shape[3] - 1))
    launch(maxima, x.shape[1], 8 * y.size, dense(x), *regions, float(empty), y, indices)
    return y.astype(x.dtype, copy=False), indices


def _scatter(gy: Array, indices: Array, images: Array, in_shape: tuple[int, ...]) -> Array:
    gx = numpy.zeros((*in_shape[:2], in_shape[2] * in_shape[3]), f)
    indices = numpy.ascontiguousarray(indices)
    launch(scatter_maxima, in_shape[1], 4 * gy.size, dense(gy), indices, images, gx)
    return gx.reshape(in_shape).astype(gy.dtype, copy=False)


class ROIPooling2DKernel:
    """Kernel of ``roi_pooling_2d``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("roi_pooling_2d").reference_for(backend)

    def forward(
        self, x: Array, rois: Array, out_size: tuple[int, int], scale: float
    ) -> tuple[Array, Array]:
        images = checked_images(rois[:, 0], len(x), "rois")
        left, top, right, bottom = rounded(rois[:, 1:], scale).T
        # The last row and column belong to the region.
        rows = bins(top, bottom + 1, out_size[0], x.shape[2])
        columns = bins(left, right + 1, out_size[1], x.shape[3])
        return _pool(x, (images, rows, columns), 0.0)

    def backward(
        self, gy: Array, indices: Array, rois: Array, in_size: tuple[int, int], batch: int
    ) -> Array:
        images = checked_images(rois[:, 0], batch, "rois")
        return _scatter(gy, indices, images, (batch, gy.shape[1], *in_size))

    def gather(self, x: Array, indices: Array, rois: Array) -> Array:
        return self._reference.gather(x, indices, rois)


class ROIMaxPooling2DKernel:
    """Kernel of ``roi_max_pooling_2d``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("roi_max_pooling_2d").reference_for(backend)

    def forward(self, x: Array, regions: Array) -> tuple[Array, Array]:
        return _pool(x, _bins(x.shape, regions), -numpy.inf)

    def backward(
        self, gy: Array, indices: Array, regions: Array, in_shape: tuple[int, ...]
    ) -> Array:
        images = checked_images(regions.images, in_shape[0], "roi_indices")
        return _scatter(gy, indices, images, in_shape)

    def gather(self, x: Array, indices: Array, regions: Array) -> Array:
        return self._reference.gather(x, indices, regions)


class ROIAveragePooling2DKernel:
    """Kernel of ``roi_average_pooling_2d``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, x: Array, regions: Array) -> tuple[Array, None]:
        y = numpy.empty((len(regions), x.shape[1], *regions.grid.out_size), f)
        launch(means, x.shape[1], 8 * y.size, dense(x), *_bins(x.shape, regions), y)
        return y.astype(x.dtype, copy=False), None

    def backward(
        self, gy: Array, residual: None, regions: Array, in_shape: tuple[int, ...]
    ) -> Array:
        gx = numpy.zeros(in_shape, f)
        launch(spread_means, in_shape[1], 8 * gy.size, dense(gy), *_bins(in_shape, regions), gx)
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Array, residual: None, regions: Array) -> Array:
        return self.forward(x, regions)[0]


def _bins(shape: tuple[int, ...], regions: Array) -> tuple[Array, Array, Array]:
    """Returns images, bins of rows and bins of columns of ``(y_min, x_min, y_max, x_max)``."""
    grid = regions.grid
    images = checked_images(regions.images, shape[0], "roi_indices")
    top, left, bottom, right = rounded(regions.rois, grid.scale).T
    rows = bins(top, bottom, grid.out_size[0], shape[2])
    return images, rows, bins(left, right, grid.out_size[1], shape[3])
