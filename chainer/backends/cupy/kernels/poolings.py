"""CUDA kernels of poolings."""

from __future__ import annotations

import numpy

from chainer.backends.cupy.kernels._windows import WindowKernel, window_record
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.core.typing import Array, Shape


class MaxPoolingNDKernel(WindowKernel):
    """Kernel of ``max_pooling_nd``; the residual is the position of each maximum in its window."""

    def forward(self, x: Array, out_size: Shape, geometry: PoolingGeometry) -> tuple[Array, Array]:
        x = self.contiguous(x)
        y = self.new((*x.shape[:2], *out_size), x.dtype)
        codes = self.new(y.shape, numpy.int32)
        record = window_record(x.shape[2:], tuple(out_size), *geometry)
        self.call("maximum_forward", y, x, y, codes, record)
        return y, codes

    def backward(
        self, x: Array, y: Array, gy: Array, residual: Array, geometry: PoolingGeometry
    ) -> Array:
        gx = self.new(x.shape, x.dtype)
        record = window_record(x.shape[2:], gy.shape[2:], *geometry)
        self.call("scatter", gx, self.contiguous(gy), residual, gx, record)
        return gx


class WindowIndexingKernel(WindowKernel):
    """Kernel of ``window_indexing``."""

    def find(self, x: Array, y: Array, geometry: PoolingGeometry) -> Array:
        x, y = self.contiguous(x), self.contiguous(y)
        codes = self.new(y.shape, numpy.int32)
        record = window_record(x.shape[2:], y.shape[2:], *geometry)
        self.call("find", y, x, y, codes, record)
        return codes

    def gather(self, x: Array, indices: Array, geometry: PoolingGeometry) -> Array:
        x = self.contiguous(x)
        y = self.new(indices.shape, x.dtype)
        record = window_record(x.shape[2:], indices.shape[2:], *geometry)
        self.call("gather", y, x, self._codes(indices), y, record)
        return y

    def scatter(self, y: Array, indices: Array, in_size: Shape, geometry: PoolingGeometry) -> Array:
        x = self.new((*y.shape[:2], *in_size), y.dtype)
        record = window_record(tuple(in_size), y.shape[2:], *geometry)
        self.call("scatter", x, self.contiguous(y), self._codes(indices), x, record)
        return x

    def _codes(self, indices: Array) -> Array:
        """Returns indices in the type of the source; users may pass int64."""
        return self.contiguous(indices.astype(numpy.int32, copy=False))


#: Divisors of the sums of windows: nothing, the size of a window, or the number of its elements
#: inside the image. The CUDA source uses the same numbers.
_SUM, _MEAN, _MEAN_INSIDE = 0, 1, 2


class _SumKernel(WindowKernel):
    """Base of the kernels on sums of windows."""

    def sums(self, x: Array, out_size: Shape, geometry: PoolingGeometry, kind: int) -> Array:
        """Returns the sums of sliding windows, divided as ``kind`` says."""
        x = self.contiguous(x)
        y = self.new((*x.shape[:2], *out_size), x.dtype)
        record = window_record(x.shape[2:], tuple(out_size), *geometry)
        self.call("sum_windows", y, x, y, record, kind)
        return y

    def spread(self, y: Array, in_size: Shape, geometry: PoolingGeometry, kind: int) -> Array:
        """Adds each element to its whole window: the adjoint of :meth:`sums`."""
        y = self.contiguous(y)
        x = self.new((*y.shape[:2], *in_size), y.dtype)
        record = window_record(tuple(in_size), y.shape[2:], *geometry)
        self.call("spread_windows", x, y, x, record, kind)
        return x


def _mean_kind(geometry: PoolingGeometry, pad_value: int | None) -> int:
    # Without padding all elements are inside, and the divisor is a constant.
    return _MEAN if pad_value is not None or not any(geometry.pad) else _MEAN_INSIDE


class AveragePoolingNDKernel(_SumKernel):
    """Kernel of ``average_pooling_nd``."""

    def forward(
        self, x: Array, out_size: Shape, geometry: PoolingGeometry, pad_value: int | None
    ) -> Array:
        return self.sums(x, out_size, geometry, _mean_kind(geometry, pad_value))

    def backward(
        self, gy: Array, in_size: Shape, geometry: PoolingGeometry, pad_value: int | None
    ) -> Array:
        return self.spread(gy, in_size, geometry, _mean_kind(geometry, pad_value))


class UnpoolingNDKernel(_SumKernel):
    """Kernel of ``unpooling_nd``."""

    def forward(self, x: Array, out_size: Shape, geometry: PoolingGeometry) -> Array:
        return self.spread(x, out_size, geometry, _SUM)

    def backward(self, gy: Array, in_size: Shape, geometry: PoolingGeometry) -> Array:
        return self.sums(gy, in_size, geometry, _SUM)
