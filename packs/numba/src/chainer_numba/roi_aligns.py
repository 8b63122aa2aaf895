"""Kernels of the sampling of regions of interest at points between pixels.

The points of all regions are computed first; a thread samples some channels of all regions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch
from chainer_numba.roi_poolings import checked_images

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO = f(0)
_INFINITY = f(numpy.inf)


# Not contracted: whether a point at the border counts depends on the last bit.
@numba.njit(cache=True, error_model="numpy")
def find_points(starts, stops, counts, bins, length, first, low, high, low_weight, high_weight):
    """Writes the pixels around each point of an axis, and their weights.

    A point further than a pixel outside of the image does not count: its first weight is -1.

    Args:
        starts: Coordinates in pixels where the regions begin.
        stops: Where they end.
        counts: Number of points in a bin, for each region.
        bins: Number of bins of a region.
        length: Length of the axis.
        first: Number of the first point of each region.
        low, high, low_weight, high_weight: Results, for each point.
    """
    for n in range(len(starts)):
        bin_size = max(stops[n] - starts[n], 1.0) / bins
        at = first[n]
        for b in range(bins):
            for s in range(counts[n]):
                point = b * bin_size + (s + 0.5) * (bin_size / counts[n]) + starts[n]
                counts_as = -1 <= point <= length
                # Points less than a pixel outside count as points on the border.
                point = min(max(point, 0.0), length - 1.0)
                pixel = int(point)
                distance = point - pixel
                low[at] = pixel
                # A pixel of weight zero is not read: it may be outside of the image.
                high[at] = pixel + (1 if distance > 0 else 0)
                low_weight[at] = 1 - distance if counts_as else -1
                high_weight[at] = distance if counts_as else 0
                at += 1


class Points:
    """The points of all regions along one axis.

    Args:
        start: First coordinate of each region.
        stop: Last coordinate of each region.
        grid: The bins of the regions.
        axis: 0 for rows, 1 for columns.
        length: Length of the axis in pixels.

    Attributes:
        arrays: Number of points in a bin and number of the first point, for each region; pixels
            before and behind each point, and their weights. The first weight of points that are
            outside of the image is -1.
    """

    def __init__(self, start: Array, stop: Array, grid: Any, axis: int, length: int) -> None:
        bins, ratio = grid.out_size[axis], grid.ratio[axis]
        starts, stops = (numpy.asarray(a, numpy.float64) * grid.scale for a in (start, stop))
        if ratio is None:
            counts = numpy.ceil(numpy.maximum(stops - starts, 1.0) / bins).astype(numpy.intp)
        else:
            counts = numpy.full(len(starts), ratio, numpy.intp)
        first = numpy.zeros(len(starts) + 1, numpy.intp)
        numpy.cumsum(counts * bins, out=first[1:])
        low, high = (numpy.empty(first[-1], numpy.intp) for _ in range(2))
        low_weight, high_weight = (numpy.empty(first[-1], f) for _ in range(2))
        arrays = low, high, low_weight, high_weight
        find_points(starts, stops, counts, bins, length, first, *arrays)
        self.arrays = (counts, first, *arrays)


@compiled
def average(part, start, stop, x, images, rows, columns, y):
    row_counts, row_first, tops, bottoms, top_weights, bottom_weights = rows
    counts, first, lefts, rights, left_weights, right_weights = columns
    # The sum over the points of a bin along rows, for each column of the image.
    line = numpy.empty(x.shape[3], f)
    for c in range(start, stop):
        for n in range(len(images)):
            image = x[images[n], c]
            share = f(1) / f(row_counts[n] * counts[n])
            begin, end = lefts[first[n]], rights[first[n + 1] - 1] + 1
            for i in range(y.shape[2]):
                line[begin:end] = _ZERO
                row = row_first[n] + i * row_counts[n]
                for v in range(row, row + row_counts[n]):
                    if top_weights[v] < _ZERO:
                        continue
                    top, bottom = image[tops[v], begin:end], image[bottoms[v], begin:end]
                    window = line[begin:end]
                    for k in range(len(window)):
                        window[k] += top_weights[v] * top[k] + bottom_weights[v] * bottom[k]
                for j in range(y.shape[3]):
                    total = _ZERO
                    column = first[n] + j * counts[n]
                    for u in range(column, column + counts[n]):
                        if left_weights[u] >= _ZERO:
                            total += left_weights[u] * line[lefts[u]]
                            total += right_weights[u] * line[rights[u]]
                    y[n, c, i, j] = total * share


@compiled
def average_gradient(part, start, stop, gy, images, rows, columns, gx):
    row_counts, row_first, tops, bottoms, top_weights, bottom_weights = rows
    counts, first, lefts, rights, left_weights, right_weights = columns
    # The gradients of a row of bins, for each column of the image.
    line = numpy.empty(gx.shape[3], f)
    for c in range(start, stop):
        for n in range(len(images)):
            image = gx[images[n], c]
            share = f(1) / f(row_counts[n] * counts[n])
            begin, end = lefts[first[n]], rights[first[n + 1] - 1] + 1
            for i in range(gy.shape[2]):
                line[begin:end] = _ZERO
                for j in range(gy.shape[3]):
                    g = gy[n, c, i, j] * share
                    column = first[n] + j * counts[n]
                    for u in range(column, column + counts[n]):
                        if left_weights[u] >= _ZERO:
                            line[lefts[u]] += g * left_weights[u]
                            line[rights[u]] += g * right_weights[u]
                row = row_first[n] + i * row_counts[n]
                for v in range(row, row + row_counts[n]):
                    if top_weights[v] < _ZERO:
                        continue
                    window, top = line[begin:end], image[tops[v], begin:end]
                    for k in range(len(window)):
                        top[k] += top_weights[v] * window[k]
                    if bottom_weights[v] > _ZERO:
                        bottom = image[bottoms[v], begin:end]
                        for k in range(len(window)):
                            bottom[k] += bottom_weights[v] * window[k]


@compiled
def maximum(part, start, stop, x, images, rows, columns, y, winners):
    row_counts, row_first, tops, bottoms, top_weights, bottom_weights = rows
    counts, first, lefts, rights, left_weights, right_weights = columns
    for c in range(start, stop):
        for n in range(len(images)):
            image = x[images[n], c]
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    best, winner = -_INFINITY, -1
                    row, column = row_first[n] + i * row_counts[n], first[n] + j * counts[n]
                    for s in range(row_counts[n]):
                        v = row + s
                        if top_weights[v] < _ZERO:
                            continue
                        top, bottom = image[tops[v]], image[bottoms[v]]
                        for t in range(counts[n]):
                            u = column + t
                            if left_weights[u] < _ZERO:
                                continue
                            left, right = lefts[u], rights[u]
                            a, b = left_weights[u], right_weights[u]
                            value = top_weights[v] * (a * top[left] + b * top[right])
                            value += bottom_weights[v] * (a * bottom[left] + b * bottom[right])
                            # The first maximum; the first NaN if there is one.
                            if value > best or (value != value and best == best):
                                best, winner = value, s * counts[n] + t
                    y[n, c, i, j] = best
                    winners[n, c, i, j] = winner


@compiled
def maximum_gradient(part, start, stop, gy, winners, images, rows, columns, gx):
    row_counts, row_first, tops, bottoms, top_weights, bottom_weights = rows
    counts, first, lefts, rights, left_weights, right_weights = columns
    for c in range(start, stop):
        for n in range(len(images)):
            image = gx[images[n], c]
            for i in range(gy.shape[2]):
                for j in range(gy.shape[3]):
                    winner = winners[n, c, i, j]
                    if winner < 0:
                        continue
                    v = row_first[n] + i * row_counts[n] + winner // counts[n]
                    u = first[n] + j * counts[n] + winner % counts[n]
                    g = gy[n, c, i, j]
                    above, below = g * top_weights[v], g * bottom_weights[v]
                    image[tops[v], lefts[u]] += above * left_weights[u]
                    image[tops[v], rights[u]] += above * right_weights[u]
                    image[bottoms[v], lefts[u]] += below * left_weights[u]
                    image[bottoms[v], rights[u]] += below * right_weights[u]


def _points(shape: tuple[int, ...], regions: Array) -> tuple[Array, Any, Any]:
    """Returns the images of the regions, and their points along rows and columns."""
    images = checked_images(regions.images, shape[0], "roi_indices")
    scaled = regions.rois.astype(numpy.float64) * regions.grid.scale
    if not numpy.isfinite(scaled).all():
        raise ValueError("coordinates of regions must be finite")
    top, left, bottom, right = regions.rois.T
    rows = Points(top, bottom, regions.grid, 0, shape[2])
    return images, rows.arrays, Points(left, right, regions.grid, 1, shape[3]).arrays


def _cost(y: Array, rows: Array, columns: Array) -> int:
    regions = max(len(y), 1)
    return 8 * y.shape[1] * (len(rows[2]) // regions + 1) * (len(columns[2]) // regions + 1)


class ROIAverageAlign2DKernel:
    """Kernel of ``roi_average_align_2d``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("roi_average_align_2d").reference_for(backend)

    def forward(self, x: Array, regions: Array) -> tuple[Array, None]:
        if not x.size:
            return self._reference.forward(x, regions)
        images, rows, columns = _points(x.shape, regions)
        y = numpy.empty((len(regions), x.shape[1], *regions.grid.out_size), f)
        elements = len(regions) * _cost(y, rows, columns)
        launch(average, x.shape[1], elements, dense(x), images, rows, columns, y)
        return y.astype(x.dtype, copy=False), None

    def backward(
        self, gy: Array, residual: None, regions: Array, in_shape: tuple[int, ...]
    ) -> Array:
        gx = numpy.zeros(in_shape, f)
        if gx.size:
            images, rows, columns = _points(in_shape, regions)
            elements = len(regions) * _cost(gy, rows, columns)
            launch(average_gradient, in_shape[1], elements, dense(gy), images, rows, columns, gx)
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Array, residual: None, regions: Array) -> Array:
        return self.forward(x, regions)[0]


class ROIMaxAlign2DKernel:
    """Kernel of ``roi_max_align_2d``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("roi_max_align_2d").reference_for(backend)

    def forward(self, x: Array, regions: Array) -> tuple[Array, Array]:
        if not x.size:
            return self._reference.forward(x, regions)
        images, rows, columns = _points(x.shape, regions)
        y = numpy.empty((len(regions), x.shape[1], *regions.grid.out_size), f)
        # As small as the numbers allow, since they are kept as long as the graph.
        samples = int(rows[0].max(initial=0)) * int(columns[0].max(initial=0))
        winners = numpy.empty(y.shape, numpy.min_scalar_type(-samples - 1))
        elements = len(regions) * _cost(y, rows, columns)
        launch(maximum, x.shape[1], elements, dense(x), images, rows, columns, y, winners)
        return y.astype(x.dtype, copy=False), winners

    def backward(
        self, gy: Array, winners: Array, regions: Array, in_shape: tuple[int, ...]
    ) -> Array:
        gx = numpy.zeros(in_shape, f)
        if gx.size:
            images, rows, columns = _points(in_shape, regions)
            arrays = dense(gy), numpy.ascontiguousarray(winners), images, rows, columns, gx
            launch(maximum_gradient, in_shape[1], 8 * gy.size, *arrays)
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Array, winners: Array, regions: Array) -> Array:
        return self._reference.gather(x, winners, regions)
