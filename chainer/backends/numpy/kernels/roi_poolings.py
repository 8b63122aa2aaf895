"""Reference kernel of pooling of regions of interest."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any

import numpy

from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel


class ROIPooling2DKernel(ReferenceKernel):
    """Regions one by one; within each, columns are reduced for all rows, then rows for all bins."""

    def forward(
        self, x: Any, rois: Any, out_size: tuple[int, int], scale: float
    ) -> tuple[Any, Any]:
        xp = self.xp
        channels, height, width = x.shape[1:]
        y = xp.zeros((len(rois), channels, *out_size), x.dtype)
        # As small as positions allow: they are kept as long as the graph, one for each output.
        indices = xp.full(y.shape, -1, numpy.min_scalar_type(-height * width - 1))
        for n, (batch, left, top, right, bottom) in enumerate(rois.tolist()):
            if not -len(x) <= batch < len(x):
                raise IndexError(
                    f"rois: expected batch indexes (column 0) less than {len(x)}, the number of "
                    f"images; got {batch:g} for region {n}"
                )
            image = x[int(batch)]
            rows = _bins(round(top * scale), round(bottom * scale), out_size[0], height)
            columns = _bins(round(left * scale), round(right * scale), out_size[1], width)
            used = slice(min(start for start, _ in rows), max(stop for _, stop in rows))
            image = image[:, used]
            if image.shape[1] == 0:
                continue
            # First the maximum of each row in each bin of columns, and the first column with it.
            tops = xp.empty((channels, image.shape[1], out_size[1]), x.dtype)
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
                    y[n, :, i] = xp.where(filled, strip.max(axis=1), 0)
                    indices[n, :, i] = xp.where(filled, position, -1)
        return y, indices

    def backward(
        self, gy: Any, indices: Any, rois: Any, in_size: tuple[int, int], batch: int
    ) -> Any:
        xp = self.xp
        dtype = numpy.float32 if is_half(gy.dtype) else gy.dtype
        gx = xp.zeros((batch, gy.shape[1], *in_size), dtype)
        flat, values = gx.reshape(-1), gy.reshape(-1, gy[0, 0].size if gy.size else 1)
        for rows, positions, valid in self._blocks(indices, rois, in_size[0] * in_size[1]):
            part = values[rows].astype(dtype, copy=False)[valid]
            xp.add.at(flat, positions[valid].reshape(-1), part.reshape(-1))
            del positions, part  # before there are others
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Any, indices: Any, rois: Any) -> Any:
        xp = self.xp
        y = xp.zeros(indices.shape, x.dtype)
        rows_of_y = y.reshape(-1, y[0, 0].size if y.size else 1)
        flat = x.reshape(-1)
        for rows, positions, valid in self._blocks(indices, rois, x.shape[2] * x.shape[3]):
            part = rows_of_y[rows]
            part[valid] = flat.take(positions[valid])
        return y

    def _blocks(self, indices: Any, rois: Any, size: int) -> Iterator[tuple[slice, Any, Any]]:
        """Iterates over blocks of channels of regions, one row each.

        Yields:
            The rows, the positions of their maxima in all images, and an index of those positions
            where there are any.
        """
        xp = self.xp
        if not indices.size:
            return
        channels = indices.shape[1]
        indices = indices.reshape(len(rois) * channels, -1)
        batches = rois[:, 0].astype(numpy.intp)
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


def _bins(start: int, end: int, count: int, limit: int) -> list[tuple[int, int]]:
    """Returns first and last position (excluded) of each bin of a region."""
    size = max(end - start + 1, 1) / count
    return [
        (
            min(max(start + floor(i * size), 0), limit),
            min(max(start + ceil((i + 1) * size), 0), limit),
        )
        for i in range(count)
    ]
