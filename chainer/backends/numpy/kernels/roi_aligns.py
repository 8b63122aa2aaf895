"""Reference kernels of the sampling of regions of interest at points between pixels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.numpy.kernels.roi_poolings import rows_with_images
from chainer.backends.operations.roi_poolings import RegionGrid, Regions
from chainer.core.arrays.chunks import chunks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DType, Shape

#: Memory for the intermediate arrays of one region, in bytes: with all channels at a time they
#: would take as much as the images.
_REGION_BYTES = 1 << 17


@dataclass(frozen=True)
class AxisSamples:
    """Points of a region along one axis of an image, each between two pixels, in host memory.

    Attributes:
        per_bin: Number of points in each bin.
        window: The part of the axis from the first to the last of the pixels.
        low: Index, within the window, of the pixel before each point.
        high: Index of the pixel behind it; the same one where only one of the two counts.
        low_weight: Weight of the pixel before the point; 0 for points outside the image.
        high_weight: Weight of the pixel behind it.
        valid: Whether each point is near enough to the image.
    """

    per_bin: int
    window: slice
    low: Array
    high: Array
    low_weight: Array
    high_weight: Array
    valid: Array


def axis_samples(
    start: float, stop: float, grid: RegionGrid, axis: int, length: int
) -> AxisSamples:
    """Returns the points of a region along an axis.

    Args:
        start: First coordinate of the region.
        stop: Last coordinate of the region.
        grid: The bins of the regions.
        axis: 0 for rows, 1 for columns.
        length: Length of the axis in pixels, not zero.
    """
    bins, scale, ratio = grid.out_size[axis], grid.scale, grid.ratio[axis]
    bin_size = max(stop * scale - start * scale, 1.0) / bins
    per_bin = ceil(bin_size) if ratio is None else ratio
    number = numpy.arange(bins * per_bin)
    point = number // per_bin * bin_size + (number % per_bin + 0.5) * (bin_size / per_bin)
    point += start * scale
    valid = (point >= -1) & (point <= length)
    # Points less than a pixel outside count as points on the border.
    point = numpy.where(valid, numpy.clip(point, 0, length - 1), 0)
    low = point.astype(numpy.intp)
    distance = point - low
    # A pixel of weight zero is not read: it may be outside the image, or not a number.
    high = low + (distance > 0)
    window = slice(int(low.min()), int(high.max()) + 1)
    return AxisSamples(
        per_bin,
        window,
        low - window.start,
        high - window.start,
        numpy.where(valid, 1 - distance, 0),
        distance,
        valid,
    )


def _most_samples(regions: Regions) -> int:
    """Returns the largest number of samples that a bin of the regions has."""
    grid = regions.grid
    most = 1
    for axis, ratio in enumerate(grid.ratio):
        if ratio is None:
            # At most one more than the size of a bin in pixels.
            sizes = [row[axis + 2] - row[axis] for row in regions.rois.tolist()]
            ratio = int(max([1.0, *sizes]) * grid.scale / grid.out_size[axis]) + 2
        most *= ratio
    return most


class RegionAlignKernel(ReferenceKernel):
    """Base of the kernels, which sample regions one by one: along rows first, columns then."""

    def sampled(
        self, regions: Regions, shape: Shape
    ) -> Iterator[tuple[int, AxisSamples, AxisSamples]]:
        """Yields the number of the image and the points along both axes, for each region."""
        grid = regions.grid
        count, channels, height, width = shape
        for batch, (top, left, bottom, right) in rows_with_images(regions, count):
            if channels * height * width == 0:
                return  # there is nothing to sample
            rows = axis_samples(top, bottom, grid, 0, height)
            columns = axis_samples(left, right, grid, 1, width)
            yield batch, rows, columns

    def parts(self, channels: int, elements: int) -> Iterator[slice]:
        """Yields the channels of a region that are computed at a time.

        Args:
            channels: Number of channels.
            elements: Number of elements that a channel has in the largest intermediate array.
        """
        if self.xp is numpy:
            # Positions and their weights take eight bytes each.
            yield from chunks(channels, 8 * elements, _REGION_BYTES)
        else:  # each part would cost kernels of its own
            yield slice(0, channels)

    def like(self, host: Array, array: Array, dtype: DType | None = None) -> Array:
        """Returns a host array on the device of another array."""
        if dtype is not None:
            host = host.astype(dtype)
        return self.backend.from_host(host, self.backend.device_of(array))

    def interpolated(self, image: Array, samples: AxisSamples, axis: int) -> Array:
        """Returns the values of the window of an image at points along one of its axes."""
        xp = self.xp
        shape = (-1,) + (1,) * (image.ndim - 1 - axis)
        y = xp.take(image, self.like(samples.low, image), axis=axis)
        y *= self.like(samples.low_weight, image, image.dtype).reshape(shape)
        high = xp.take(image, self.like(samples.high, image), axis=axis)
        high *= self.like(samples.high_weight, image, image.dtype).reshape(shape)
        y += high
        return y


class ROIAverageAlign2DKernel(RegionAlignKernel):
    """Mean of the samples of each bin."""

    def forward(self, x: Array, regions: Regions) -> tuple[Array, None]:
        dtype = compute_dtype(x.dtype)
        channels = x.shape[1]
        out_size = regions.grid.out_size
        y = self.xp.zeros((len(regions), channels, *out_size), x.dtype)
        for n, (batch, rows, columns) in enumerate(self.sampled(regions, x.shape)):
            part = x[batch, :, rows.window, columns.window].astype(dtype, copy=False)
            part = self.interpolated(part, rows, 1)
            part = part.reshape((channels, out_size[0], rows.per_bin, -1)).sum(axis=2)
            part = self.interpolated(part, columns, 2)
            part = part.reshape((channels, *out_size, columns.per_bin)).sum(axis=3)
            part /= rows.per_bin * columns.per_bin
            y[n] = part
        return y, None

    def backward(self, gy: Array, residual: None, regions: Regions, in_shape: Shape) -> Array:
        xp = self.xp
        dtype = compute_dtype(gy.dtype)
        gx = xp.zeros(in_shape, dtype)
        out_size = regions.grid.out_size
        for n, (batch, rows, columns) in enumerate(self.sampled(regions, in_shape)):
            # A mean of samples is a product with one small matrix for each axis.
            from_rows = self.like(_weights(rows, out_size[0]).T, gy, dtype)
            from_columns = self.like(_weights(columns, out_size[1]), gy, dtype)
            image = gx[batch, :, rows.window, columns.window]
            # A tenth of the memory for a region: all gradients are there at this time.
            for some in self.parts(in_shape[1], 10 * image.shape[1] * image.shape[2]):
                part = xp.matmul(from_rows, gy[n, some].astype(dtype, copy=False))
                image[some] += xp.matmul(part, from_columns)
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Array, residual: None, regions: Regions) -> Array:
        return self.forward(x, regions)[0]


def _weights(samples: AxisSamples, bins: int) -> Array:
    """Returns the matrix ``(bins, window)`` that takes the mean of the samples of each bin."""
    matrix = numpy.zeros((bins, samples.window.stop - samples.window.start))
    places = numpy.arange(bins * samples.per_bin) // samples.per_bin
    numpy.add.at(matrix, (places, samples.low), samples.low_weight)
    numpy.add.at(matrix, (places, samples.high), samples.high_weight)
    matrix /= samples.per_bin
    return matrix


class ROIMaxAlign2DKernel(RegionAlignKernel):
    """Maximum of the samples of each bin; the residual is the number of the sample, or -1."""

    def forward(self, x: Array, regions: Regions) -> tuple[Array, Array]:
        xp = self.xp
        dtype = compute_dtype(x.dtype)
        channels = x.shape[1]
        out_size = regions.grid.out_size
        y = xp.full((len(regions), channels, *out_size), -numpy.inf, x.dtype)
        # As small as the numbers allow: they are kept as long as the graph, one for each output.
        winners = xp.full(y.shape, -1, numpy.min_scalar_type(-_most_samples(regions) - 1))
        for n, (batch, rows, columns) in enumerate(self.sampled(regions, x.shape)):
            image = x[batch, :, rows.window, columns.window]
            valid = rows.valid[:, None] & columns.valid
            for some in self.parts(channels, valid.size):
                part = image[some].astype(dtype, copy=False)
                part = self.interpolated(self.interpolated(part, rows, 1), columns, 2)
                if not valid.all():
                    part = xp.where(self.like(valid, part), part, -numpy.inf)
                part = part.reshape((len(part), out_size[0], rows.per_bin, out_size[1], -1))
                part = part.transpose((0, 1, 3, 2, 4)).reshape((len(part), *out_size, -1))
                y[n, some] = part.max(axis=3)
                # A bin of minus infinity has no sample that could get a gradient.
                nothing = y[n, some] == -numpy.inf
                winners[n, some] = xp.where(nothing, -1, part.argmax(axis=3))
        return y, winners

    def backward(self, gy: Array, winners: Array, regions: Regions, in_shape: Shape) -> Array:
        dtype = compute_dtype(gy.dtype)
        gx = self.xp.zeros(in_shape, dtype)
        for bins, image, positions, weights in self._pixels(gx, winners, regions):
            gradient = gy[bins].astype(dtype, copy=False)
            for position, weight in zip(positions, weights, strict=True):
                self.xp.add.at(image, position.reshape(-1), (gradient * weight).reshape(-1))
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Array, winners: Array, regions: Regions) -> Array:
        dtype = compute_dtype(x.dtype)
        y = self.xp.zeros(winners.shape, dtype)
        x = self.xp.ascontiguousarray(x)
        for bins, image, positions, weights in self._pixels(x, winners, regions):
            for position, weight in zip(positions, weights, strict=True):
                y[bins] += image[position].astype(dtype, copy=False) * weight.astype(dtype)
        return y.astype(x.dtype, copy=False)

    def _pixels(
        self, images: Array, winners: Array, regions: Regions
    ) -> Iterator[tuple[tuple[int, slice], Array, list[Array], list[Array]]]:
        """Yields the four pixels of the sample that is the maximum of each bin.

        Args:
            images: Contiguous images.
            winners: Number of the sample in each bin.
            regions: The regions.

        Yields:
            Number of a region and some of its channels, the image as a flat view, positions in it,
            and their weights.
        """
        xp = self.xp
        channels, height, width = images.shape[1:]
        bin_rows = xp.arange(regions.grid.out_size[0]).reshape((1, -1, 1))
        bin_columns = xp.arange(regions.grid.out_size[1]).reshape((1, 1, -1))
        dtype = compute_dtype(images.dtype)
        for n, (batch, rows, columns) in enumerate(self.sampled(regions, images.shape)):
            image = images[batch].reshape(-1)
            # Four positions and weights, and what they are computed from.
            for some in self.parts(channels, 12 * winners[n, 0].size):
                winner = xp.maximum(winners[n, some], 0)
                row = bin_rows * rows.per_bin + winner // columns.per_bin
                column = bin_columns * columns.per_bin + winner % columns.per_bin
                found = winners[n, some] >= 0
                starts = xp.arange(some.start, some.stop).reshape((-1, 1, 1)) * (height * width)
                positions: list[Array] = []
                weights: list[Array] = []
                for y, y_weight in ((rows.low, rows.low_weight), (rows.high, rows.high_weight)):
                    line = self.like(y + rows.window.start, images)[row] * width + starts
                    line_weight = self.like(y_weight, images, dtype)[row] * found
                    for x, x_weight in (
                        (columns.low, columns.low_weight),
                        (columns.high, columns.high_weight),
                    ):
                        positions.append(line + self.like(x + columns.window.start, images)[column])
                        weights.append(line_weight * self.like(x_weight, images, dtype)[column])
                yield (n, some), image, positions, weights
