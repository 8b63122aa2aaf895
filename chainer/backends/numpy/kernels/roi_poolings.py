"""Reference kernels of pooling over the bins of regions of interest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.operations.roi_poolings import Regions
from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, Shape

#: First and last position (excluded) of each bin along an axis.
Bins = list[tuple[int, int]]
#: Number of the image, bins of its rows, bins of its columns.
Region = tuple[int, Bins, Bins]


class RegionMaxKernel(ReferenceKernel):
    """Base of kernels that take the maximum of each bin.

    Regions are pooled one by one. Within each, columns are reduced for all rows, then rows for all
    bins.
    """

    def pool(
        self, x: Array, regions: Iterable[Region], shape: Shape, empty: float
    ) -> tuple[Array, Array]:
        """Returns maxima and their positions in the images.

        Args:
            x: Images.
            regions: The regions.
            shape: Shape of the output.
            empty: Value of empty bins.

        Returns:
            tuple: Maxima, and the row-major position of each in its image, -1 for empty bins.
        """
        xp = self.xp
        channels, height, width = x.shape[1:]
        y = xp.full(shape, empty, x.dtype)
        # As small as positions allow: they are kept as long as the graph, one for each output.
        indices = xp.full(shape, -1, numpy.min_scalar_type(-height * width - 1))
        for n, (batch, rows, columns) in enumerate(regions):
            used = used_range(rows)
            image = x[batch, :, used]
            if image.shape[1] == 0:
                continue
            # First the maximum of each row in each bin of columns, and the first column with it.
            tops = xp.empty((channels, image.shape[1], len(columns)), x.dtype)
            where = xp.zeros(tops.shape, numpy.intp)
            tops[...] = -numpy.inf
            for j, (start, stop) in enumerate(columns):
                if start < stop:
                    part = image[:, :, start:stop]
                    tops[:, :, j] = part.max(axis=2)
                    xp.add(part.argmax(axis=2), start, out=where[:, :, j])
            filled = xp.asarray([start < stop for start, stop in columns])
            # Then the first row that has the maximum of each bin.
            for i, (first, last) in enumerate(rows):
                if first < last:
                    strip = tops[:, first - used.start : last - used.start]
                    row = strip.argmax(axis=1)[:, None] + (first - used.start)
                    column = xp.take_along_axis(where, row, axis=1)[:, 0]
                    position = (row[:, 0] + used.start) * width + column
                    y[n, :, i] = xp.where(filled, strip.max(axis=1), empty)
                    indices[n, :, i] = xp.where(filled, position, -1)
        return y, indices

    def scatter(self, gy: Array, indices: Array, batches: Array, in_shape: Shape) -> Array:
        """Adds the gradient of each bin to the position of its maximum.

        Args:
            gy: Gradients of the bins.
            indices: Positions of the maxima.
            batches: Number of the image of each region.
            in_shape: Shape of the images.

        Returns:
            Gradients of the images.
        """
        xp = self.xp
        dtype = compute_dtype(gy.dtype)
        gx = xp.zeros(in_shape, dtype)
        flat, values = gx.reshape(-1), gy.reshape(-1, gy[0, 0].size if gy.size else 1)
        for rows, positions, valid in self._blocks(indices, batches, in_shape[2] * in_shape[3]):
            part = values[rows].astype(dtype, copy=False)[valid]
            xp.add.at(flat, positions[valid].reshape(-1), part.reshape(-1))
            del positions, part  # before there are others
        return gx.astype(gy.dtype, copy=False)

    def gather_at(self, x: Array, indices: Array, batches: Array) -> Array:
        """Returns the elements of images at positions, zero for -1."""
        xp = self.xp
        y = xp.zeros(indices.shape, x.dtype)
        rows_of_y = y.reshape(-1, y[0, 0].size if y.size else 1)
        flat = x.reshape(-1)
        for rows, positions, valid in self._blocks(indices, batches, x.shape[2] * x.shape[3]):
            part = rows_of_y[rows]
            part[valid] = flat.take(positions[valid])
        return y

    def _blocks(
        self, indices: Array, batches: Array, size: int
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Iterates over blocks of channels of regions, one row each.

        Yields:
            The rows, the positions of their maxima in all images, and an index of those positions
            where there are any.
        """
        xp = self.xp
        if not indices.size:
            return
        channels = indices.shape[1]
        indices = indices.reshape(len(batches) * channels, -1)
        # Positions take twice the memory of the indexes: there are never all of them at a time.
        full = bool(indices.min() >= 0)
        most = chunk_bytes(indices.nbytes, 128)
        for rows in chunks(len(indices), indices.shape[1] * batches.itemsize, most):
            part = indices[rows]
            numbers = xp.arange(rows.start, rows.stop)
            regions = numbers // channels
            starts = ((batches[regions] - regions) * channels + numbers) * size
            positions = part.astype(starts.dtype)
            positions += starts[:, None]
            yield rows, positions, Ellipsis if full else part >= 0
            del positions  # before there are others


class ROIPooling2DKernel(RegionMaxKernel):
    """Maximum over the bins of regions that name their image."""

    def forward(
        self, x: Array, rois: Array, out_size: tuple[int, int], scale: float
    ) -> tuple[Array, Array]:
        regions = self._regions(rois.tolist(), x.shape, out_size, scale)
        return self.pool(x, regions, (len(rois), x.shape[1], *out_size), 0.0)

    def _regions(
        self, rois: list[list[float]], shape: Shape, out_size: tuple[int, int], scale: float
    ) -> Iterator[Region]:
        count, _, height, width = shape
        for n, (batch, left, top, right, bottom) in enumerate(rois):
            if not -count <= batch < count:
                raise IndexError(
                    f"rois: expected batch indexes (column 0) less than {count}, the number of "
                    f"images; got {batch:g} for region {n}"
                )
            top, bottom = round(top * scale), round(bottom * scale)
            left, right = round(left * scale), round(right * scale)
            # The last row and column belong to the region.
            rows = _bins(top, bottom - top + 1, out_size[0], height)
            yield int(batch), rows, _bins(left, right - left + 1, out_size[1], width)

    def backward(
        self, gy: Array, indices: Array, rois: Array, in_size: tuple[int, int], batch: int
    ) -> Array:
        return self.scatter(gy, indices, _images_of(rois), (batch, gy.shape[1], *in_size))

    def gather(self, x: Array, indices: Array, rois: Array) -> Array:
        return self.gather_at(x, indices, _images_of(rois))


def _images_of(rois: Array) -> Array:
    return rois[:, 0].astype(numpy.intp)


class ROIMaxPooling2DKernel(RegionMaxKernel):
    """Maximum over the bins of regions."""

    def forward(self, x: Array, regions: Regions) -> tuple[Array, Array]:
        out_shape = (len(regions), x.shape[1], *regions.grid.out_size)
        return self.pool(x, _binned(regions, x.shape), out_shape, -numpy.inf)

    def backward(self, gy: Array, indices: Array, regions: Regions, in_shape: Shape) -> Array:
        return self.scatter(gy, indices, regions.images.astype(numpy.intp, copy=False), in_shape)

    def gather(self, x: Array, indices: Array, regions: Regions) -> Array:
        return self.gather_at(x, indices, regions.images.astype(numpy.intp, copy=False))


class ROIAveragePooling2DKernel(ReferenceKernel):
    """Mean over the bins of regions: of the columns of each bin first, of its rows then."""

    def forward(self, x: Array, regions: Regions) -> tuple[Array, None]:
        xp = self.xp
        dtype = compute_dtype(x.dtype)
        channels = x.shape[1]
        y = xp.zeros((len(regions), channels, *regions.grid.out_size), x.dtype)
        for n, (batch, rows, columns) in enumerate(_binned(regions, x.shape)):
            used = used_range(rows)
            image = x[batch, :, used].astype(dtype, copy=False)
            means = xp.zeros((channels, image.shape[1], len(columns)), dtype)
            for j, (start, stop) in enumerate(columns):
                if start < stop:
                    means[:, :, j] = image[:, :, start:stop].sum(axis=2) / (stop - start)
            for i, (start, stop) in enumerate(rows):
                if start < stop:
                    strip = means[:, start - used.start : stop - used.start]
                    y[n, :, i] = strip.sum(axis=1) / (stop - start)
        return y, None

    def backward(self, gy: Array, residual: None, regions: Regions, in_shape: Shape) -> Array:
        xp = self.xp
        dtype = compute_dtype(gy.dtype)
        gx = xp.zeros(in_shape, dtype)
        for n, (batch, rows, columns) in enumerate(_binned(regions, in_shape)):
            gradient = gy[n].astype(dtype, copy=False)
            used = used_range(columns)
            # The gradient of each bin is spread over its columns by a product with the matrix that
            # takes their means, then over its rows: row by row, which needs little memory.
            means = numpy.zeros((len(columns), used.stop - used.start))
            for j, (start, stop) in enumerate(columns):
                if start < stop:
                    means[j, start - used.start : stop - used.start] = 1 / (stop - start)
            device = self.backend.device_of(gy)
            means = self.backend.from_host(means.astype(dtype), device)
            image = gx[batch, :, :, used]
            for i, (start, stop) in enumerate(rows):
                if start < stop:
                    spread = xp.matmul(gradient[:, i], means)
                    image[:, start:stop] += spread[:, None] / (stop - start)
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Array, residual: None, regions: Regions) -> Array:
        return self.forward(x, regions)[0]


def rows_with_images(regions: Regions, count: int) -> Iterator[tuple[int, list[float]]]:
    """Yields the number of the image and the coordinates of each region.

    Args:
        regions: The regions.
        count: Number of images.

    Raises:
        IndexError: If there is no such image.
    """
    pairs = zip(regions.images.tolist(), regions.rois.tolist(), strict=True)
    for n, (batch, coordinates) in enumerate(pairs):
        if not -count <= batch < count:
            raise IndexError(
                f"roi_indices: expected indexes less than {count}, the number of images; got "
                f"{batch} for region {n}"
            )
        yield batch, coordinates


def _binned(regions: Regions, shape: Shape) -> Iterator[Region]:
    """Yields the regions given by ``(y_min, x_min, y_max, x_max)``."""
    count, _, height, width = shape
    grid = regions.grid
    for batch, coordinates in rows_with_images(regions, count):
        top, left, bottom, right = [round(value * grid.scale) for value in coordinates]
        rows = _bins(top, bottom - top, grid.out_size[0], height)
        yield batch, rows, _bins(left, right - left, grid.out_size[1], width)


def _bins(start: int, length: int, count: int, limit: int) -> Bins:
    """Returns the bins of a region along an axis.

    Args:
        start: First position of the region.
        length: Length of the region; less than one counts as one.
        count: Number of bins.
        limit: Length of the image, where bins are cut off.
    """
    size = max(length, 1) / count
    return [
        (
            min(max(start + floor(i * size), 0), limit),
            min(max(start + ceil((i + 1) * size), 0), limit),
        )
        for i in range(count)
    ]


def used_range(bins: Bins) -> slice:
    """Returns the positions from the first to the last that belongs to a bin."""
    return slice(min(start for start, _ in bins), max(stop for _, stop in bins))
