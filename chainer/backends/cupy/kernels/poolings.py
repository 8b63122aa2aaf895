"""CUDA kernels of poolings."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.cupy.kernels._windows import WindowKernel, window_record
from chainer.core.arrays.windows import Sizes


class MaxPoolingNDKernel(WindowKernel):
    """Kernel of ``max_pooling_nd``; the residual is the place of each maximum in its window."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes
    ) -> tuple[Any, Any]:
        x = self.contiguous(x)
        y = self.new((*x.shape[:2], *out_size), x.dtype)
        codes = self.new(y.shape, numpy.int32)
        g = window_record(x.shape[2:], tuple(out_size), ksize, stride, pad)
        self.call("maximum_forward", y, x, y, codes, g)
        return y, codes

    def backward(
        self, x: Any, y: Any, gy: Any, residual: Any, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        gx = self.new(x.shape, x.dtype)
        g = window_record(x.shape[2:], gy.shape[2:], ksize, stride, pad)
        self.call("scatter", gx, self.contiguous(gy), residual, gx, g)
        return gx


class WindowIndexingKernel(WindowKernel):
    """Kernel of ``window_indexing``."""

    def find(self, x: Any, y: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        x, y = self.contiguous(x), self.contiguous(y)
        codes = self.new(y.shape, numpy.int32)
        g = window_record(x.shape[2:], y.shape[2:], ksize, stride, pad)
        self.call("find", y, x, y, codes, g)
        return codes

    def gather(self, x: Any, indices: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        x = self.contiguous(x)
        y = self.new(indices.shape, x.dtype)
        g = window_record(x.shape[2:], indices.shape[2:], ksize, stride, pad)
        self.call("gather", y, x, self._codes(indices), y, g)
        return y

    def scatter(
        self, y: Any, indices: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        x = self.new((*y.shape[:2], *in_size), y.dtype)
        g = window_record(tuple(in_size), y.shape[2:], ksize, stride, pad)
        self.call("scatter", x, self.contiguous(y), self._codes(indices), x, g)
        return x

    def _codes(self, indices: Any) -> Any:
        return self.contiguous(indices.astype(numpy.int32, copy=False))


class _Sums(WindowKernel):
    def sums(
        self, x: Any, out_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, kind: int
    ) -> Any:
        x = self.contiguous(x)
        y = self.new((*x.shape[:2], *out_size), x.dtype)
        g = window_record(x.shape[2:], tuple(out_size), ksize, stride, pad)
        self.call("sum_windows", y, x, y, g, kind)
        return y

    def spread(
        self, y: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, kind: int
    ) -> Any:
        y = self.contiguous(y)
        x = self.new((*y.shape[:2], *in_size), y.dtype)
        g = window_record(tuple(in_size), y.shape[2:], ksize, stride, pad)
        self.call("spread_windows", x, y, x, g, kind)
        return x


def _kind(pad: Sizes, pad_value: Any) -> int:
    return 1 if pad_value is not None or not any(pad) else 2


class AveragePoolingNDKernel(_Sums):
    """Kernel of ``average_pooling_nd``."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes, pad_value: Any
    ) -> Any:
        return self.sums(x, out_size, ksize, stride, pad, _kind(pad, pad_value))

    def backward(
        self, gy: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, pad_value: Any
    ) -> Any:
        return self.spread(gy, in_size, ksize, stride, pad, _kind(pad, pad_value))


class UnpoolingNDKernel(_Sums):
    """Kernel of ``unpooling_nd``."""

    def forward(self, x: Any, out_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        return self.spread(x, out_size, ksize, stride, pad, 0)

    def backward(self, gy: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        return self.sums(gy, in_size, ksize, stride, pad, 0)
