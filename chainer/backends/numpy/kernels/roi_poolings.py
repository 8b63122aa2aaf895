"""Reference kernel of pooling of regions of interest."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy

from chainer.core.kernel import ReferenceKernel
from chainer.core.utils.extended_dtypes import is_half


class ROIPooling2DKernel(ReferenceKernel):
    """Regions one by one; within each, columns are reduced for all rows, then rows for all bins."""

    def forward(
        self, x: Any, rois: Any, out_size: tuple[int, int], scale: float
    ) -> tuple[Any, Any]:
        xp = self.xp
        channels, height, width = x.shape[1:]
        y = xp.zeros((len(rois), channels, *out_size), x.dtype)
        indices = xp.full(y.shape, -1, numpy.int32)
        for n, (batch, left, top, right, bottom) in enumerate(rois.tolist()):
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
        channels = gy.shape[1]
        dtype = numpy.float32 if is_half(gy.dtype) else gy.dtype
        gx = xp.zeros((batch, channels, *in_size), dtype)
        flat, valid = self._flat(indices, rois, channels, in_size[0] * in_size[1])
        xp.add.at(gx.reshape(-1), flat[valid], gy[valid].astype(dtype, copy=False))
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Any, indices: Any, rois: Any) -> Any:
        channels, height, width = x.shape[1:]
        flat, valid = self._flat(indices, rois, channels, height * width)
        y = self.xp.zeros(indices.shape, x.dtype)
        y[valid] = x.reshape(-1).take(flat[valid])
        return y

    def _flat(self, indices: Any, rois: Any, channels: int, size: int) -> tuple[Any, Any]:
        xp = self.xp
        images = rois[:, :1].astype(numpy.intp) * channels + xp.arange(channels)
        return indices + images[:, :, None, None] * size, indices >= 0


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
