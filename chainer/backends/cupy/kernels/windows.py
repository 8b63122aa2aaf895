"""Kernels of sliding windows: poolings and the extraction of patches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels.base import CudaKernel, as_argument, is_wide
from chainer.core.arrays.windows import Sizes

#: The structure Geometry of the source.
_GEOMETRY = numpy.dtype(
    [(name, "<i4", 3) for name in ("in", "out", "size", "stride", "pad", "dilate")]
)
_MOST_AXES = 3


@lru_cache(maxsize=4096)
def geometry(
    in_size: Sizes, out_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes = ()
) -> Any:
    """Returns the structure that describes windows; it is passed to kernels by value."""
    missing = _MOST_AXES - len(ksize)
    record = numpy.zeros((), _GEOMETRY)
    for name, sizes, neutral in (
        ("in", in_size, 1),
        ("out", out_size, 1),
        ("size", ksize, 1),
        ("stride", stride, 1),
        ("pad", pad, 0),
        ("dilate", dilate or (1,) * len(ksize), 1),
    ):
        record[name] = (neutral,) * missing + tuple(sizes)
    return as_argument(record)


class WindowKernel(CudaKernel):
    """What the kernels below share."""

    source = "windows.cu"

    def call(self, name: str, out: Any, *args: Any, patches: Any = None) -> None:
        """Calls a function with one thread for each element of ``out``."""
        other = out if patches is None else patches
        arrays = [arg for arg in args if getattr(arg, "ndim", 0) > 0]
        types = types_for(out.dtype, wide=is_wide(out, *arrays), P=other.dtype)
        self.each(name, types, out.size, *args)


class MaxPoolingNDKernel(WindowKernel):
    """Kernel of ``max_pooling_nd``; the residual is the place of each maximum in its window."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes
    ) -> tuple[Any, Any]:
        x = self.contiguous(x)
        y = self.new((*x.shape[:2], *out_size), x.dtype)
        codes = self.new(y.shape, numpy.int32)
        g = geometry(x.shape[2:], tuple(out_size), ksize, stride, pad)
        self.call("maximum_forward", y, x, y, codes, g)
        return y, codes

    def backward(
        self, x: Any, y: Any, gy: Any, residual: Any, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        gx = self.new(x.shape, x.dtype)
        g = geometry(x.shape[2:], gy.shape[2:], ksize, stride, pad)
        self.call("scatter", gx, self.contiguous(gy), residual, gx, g)
        return gx


class WindowIndexingKernel(WindowKernel):
    """Kernel of ``window_indexing``."""

    def find(self, x: Any, y: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        x, y = self.contiguous(x), self.contiguous(y)
        codes = self.new(y.shape, numpy.int32)
        g = geometry(x.shape[2:], y.shape[2:], ksize, stride, pad)
        self.call("find", y, x, y, codes, g)
        return codes

    def gather(self, x: Any, indices: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        x = self.contiguous(x)
        y = self.new(indices.shape, x.dtype)
        g = geometry(x.shape[2:], indices.shape[2:], ksize, stride, pad)
        self.call("gather", y, x, self._codes(indices), y, g)
        return y

    def scatter(
        self, y: Any, indices: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        x = self.new((*y.shape[:2], *in_size), y.dtype)
        g = geometry(tuple(in_size), y.shape[2:], ksize, stride, pad)
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
        g = geometry(x.shape[2:], tuple(out_size), ksize, stride, pad)
        self.call("sum_windows", y, x, y, g, kind)
        return y

    def spread(
        self, y: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, kind: int
    ) -> Any:
        y = self.contiguous(y)
        x = self.new((*y.shape[:2], *in_size), y.dtype)
        g = geometry(tuple(in_size), y.shape[2:], ksize, stride, pad)
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


class Im2ColKernel(WindowKernel):
    """Kernel of ``im2col``."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes, out_size: Sizes
    ) -> Any:
        x = self.contiguous(x)
        patches = self.new((*x.shape[:2], *ksize, *out_size), x.dtype)
        g = geometry(x.shape[2:], tuple(out_size), tuple(ksize), stride, pad, dilate)
        self.call("copy_patches", patches, x, patches, g)
        return patches

    def backward(
        self, patches: Any, in_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
    ) -> Any:
        n = len(in_size)
        patches = self.contiguous(patches)
        ksize, out_size = patches.shape[2 : 2 + n], patches.shape[2 + n :]
        x = self.new((*patches.shape[:2], *in_size), patches.dtype)
        g = geometry(tuple(in_size), out_size, ksize, stride, pad, dilate)
        self.call("add_patches", x, patches, x, g, patches=patches)
        return x
