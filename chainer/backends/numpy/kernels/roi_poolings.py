"""Reference kernel of pooling of regions of interest."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy

from chainer.core.kernel import ReferenceKernel


class ROIPooling2DKernel(ReferenceKernel):
    """Regions one by one; within each, columns are reduced for all rows at once, then rows."""

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
            for j, (start, stop) in enumerate(columns):
                if start >= stop:
                    continue
                part = image[:, :, start:stop]
                # First maximum of each row, then the first row that has the maximum.
                where = part.argmax(axis=2)
                top_of_row = xp.take_along_axis(part, where[:, :, None], axis=2)[:, :, 0]
                for i, (first, last) in enumerate(rows):
                    if first >= last:
                        continue
                    strip = top_of_row[:, first - used.start : last - used.start]
                    row = strip.argmax(axis=1)[:, None] + (first - used.start)
                    y[n, :, i, j] = xp.take_along_axis(top_of_row, row, axis=1)[:, 0]
                    column = xp.take_along_axis(where, row, axis=1)[:, 0] + start
                    indices[n, :, i, j] = (row[:, 0] + used.start) * width + column
        return y, indices

    def backward(
        self, gy: Any, indices: Any, rois: Any, in_size: tuple[int, int], batch: int
    ) -> Any:
        xp = self.xp
        channels = gy.shape[1]
        dtype = numpy.float32 if gy.dtype == numpy.float16 else gy.dtype
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
