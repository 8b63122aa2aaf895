"""Kernels that read and write at positions that are data."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy

from chainer.backends.cupy.compiler import Types, compute_dtype, types_for
from chainer.backends.cupy.kernels.base import CudaKernel, is_wide
from chainer.backends.numpy.kernels.indexing import ScatterAddKernel as ReferenceScatterAddKernel
from chainer.backends.numpy.kernels.indexing import rows_of, selects_once
from chainer.core.arrays.backend import Backend
from chainer.core.arrays.extended_dtypes import is_half

_INT = numpy.dtype(numpy.int32)


class _Sampling(CudaKernel):
    source = "sampling.cu"

    def types(self, *arrays: Any, labels: Any = _INT) -> Types:
        """Returns the types to compile for, given arrays of one type."""
        return types_for(arrays[0].dtype, wide=is_wide(*arrays), L=labels)


class EmbeddingKernel(_Sampling):
    """Kernel of ``embedding``. Rows of numbers out of range are not a number."""

    def forward(self, x: Any, W: Any, ignore_label: int | None) -> Any:
        x, W = self.contiguous(x), self.contiguous(W)
        y = self.new((*x.shape, W.shape[1]), W.dtype)
        types = self.types(W, y, labels=x.dtype)
        self.each(
            "embedding_forward", types, y.size, x, W, y, *self._scalars(W.shape, ignore_label)
        )
        return y

    def backward(self, x: Any, gy: Any, shape: tuple[int, int], ignore_label: int | None) -> Any:
        x, gy = self.contiguous(x), self.contiguous(gy)
        gW = self.xp.zeros(shape, compute_dtype(gy.dtype))
        types = self.types(gy, gW, labels=x.dtype)
        scalars = self._scalars(shape, ignore_label)
        self.each("embedding_backward", types, gy.size, x, gy, gW, *scalars)
        return gW.astype(gy.dtype, copy=False)

    def _scalars(self, shape: tuple[int, int], ignore_label: int | None) -> tuple[Any, ...]:
        return (*shape, ignore_label is not None, 0 if ignore_label is None else int(ignore_label))


class ScatterAddKernel(ReferenceScatterAddKernel):
    """Kernel of ``scatter_add``: CuPy's, without a look at the indexes, which takes waiting.

    Sums of 16-bit types are made in float32, of which CuPy has none for bfloat16.
    """

    #: Class of the kernel that sums rows.
    sums: ClassVar[type[EmbeddingKernel]] = EmbeddingKernel

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._sums = self.sums(backend)

    def add_at(self, a: Any, slices: Any, b: Any) -> None:
        """Adds ``b`` to ``a[slices]`` in place."""
        if isinstance(slices, list):
            slices = self.xp.asarray(slices)
        if selects_once(slices):
            a[slices] += b
        elif self.adds(a):
            self._add(a, slices, b)
        else:
            self.xp.add.at(a, slices, b)

    def adds(self, a: Any) -> bool:
        """Tells whether CuPy is not to add to an array."""
        return is_half(a.dtype)

    def _add(self, a: Any, slices: Any, b: Any) -> None:
        """Adds what the kernel of embeddings makes of ``b``, in an array as large as ``a``."""
        rows = rows_of(slices)
        if rows is None:
            places, width = self.positions(a.shape, slices), 1
        else:
            places, width = self.xp.asarray(rows), prod(a.shape[1:])
        shape = (prod(a.shape) // max(width, 1), width)
        if b.size:
            a += self._sums.backward(places.reshape(-1), b, shape, None).reshape(a.shape)


class ROIPooling2DKernel(_Sampling):
    """Kernel of ``roi_pooling_2d``."""

    def forward(
        self, x: Any, rois: Any, out_size: tuple[int, int], scale: float
    ) -> tuple[Any, Any]:
        x, rois = self.contiguous(x), self._rois(rois, x.dtype)
        y = self.new((len(rois), x.shape[1], *out_size), x.dtype)
        indices = self.new(y.shape, numpy.int32)
        sizes = (*x.shape, *map(int, out_size))
        self.each(
            "roi_forward", self.types(x, y), y.size, x, rois, y, indices, *sizes, float(scale)
        )
        return y, indices

    def backward(
        self, gy: Any, indices: Any, rois: Any, in_size: tuple[int, int], batch: int
    ) -> Any:
        gy, indices = self.contiguous(gy), self.contiguous(indices)
        channels = gy.shape[1]
        gx = self.xp.zeros((batch, channels, *in_size), compute_dtype(gy.dtype))
        sizes = (channels, prod(in_size), prod(gy.shape[2:]))
        arrays = (gy, indices, self._rois(rois, gy.dtype), gx)
        self.each("roi_backward", self.types(gy, gx), gy.size, *arrays, *sizes)
        return gx.astype(gy.dtype, copy=False)

    def gather(self, x: Any, indices: Any, rois: Any) -> Any:
        x, indices = self.contiguous(x), self.contiguous(indices)
        y = self.new(indices.shape, x.dtype)
        sizes = (x.shape[1], prod(x.shape[2:]), prod(indices.shape[2:]))
        arrays = (x, indices, self._rois(rois, x.dtype), y)
        self.each("roi_gather", self.types(x, y), y.size, *arrays, *sizes)
        return y

    def _rois(self, rois: Any, dtype: Any) -> Any:
        return self.contiguous(rois.astype(dtype, copy=False))


class SpatialTransformerSamplerKernel(_Sampling):
    """Kernel of ``spatial_transformer_sampler``."""

    def forward(self, x: Any, grid: Any) -> Any:
        x, grid = self.contiguous(x), self.contiguous(grid)
        y = self.new((*x.shape[:2], *grid.shape[2:]), x.dtype)
        sizes = (*x.shape[1:], prod(grid.shape[2:]))
        self.each("sampler_forward", self.types(x, y), y.size, x, grid, y, *sizes)
        return y

    def backward(self, x: Any, grid: Any, gy: Any) -> tuple[Any, Any]:
        xp = self.xp
        x, grid, gy = map(self.contiguous, (x, grid, gy))
        gx = xp.zeros(x.shape, compute_dtype(x.dtype))
        ggrid = self._backward(x, grid, gy, gx)
        return gx.astype(x.dtype, copy=False), ggrid

    def _backward(self, x: Any, grid: Any, gy: Any, gx: Any) -> Any:
        ggrid = self.new_like(grid)
        points = prod(grid.shape[2:])
        types, sizes = self.types(x, gy, grid), (*x.shape[1:], points)
        self.each("sampler_backward", types, len(x) * points, x, grid, gy, gx, ggrid, *sizes)
        return ggrid


def _sorted(xp: Any, keys: Any) -> tuple[Any, Any]:
    """Returns sorted numbers and, as int64, the place of each before."""
    order = xp.argsort(keys, kind="stable").astype(numpy.int64, copy=False)
    return keys[order], order


class DeterministicEmbeddingKernel(EmbeddingKernel):
    """Kernel of ``embedding`` whose gradients are sums in a fixed order: of sorted row numbers."""

    def backward(self, x: Any, gy: Any, shape: tuple[int, int], ignore_label: int | None) -> Any:
        x, gy = self.contiguous(x), self.contiguous(gy)
        gW = self.new(shape, gy.dtype)
        types = self.types(gy, gW, labels=x.dtype)
        keys = self.new(x.size, numpy.int64)
        rows, width, *ignored = self._scalars(shape, ignore_label)
        self.each("embedding_keys", types, x.size, x, keys, rows, *ignored)
        self.each("embedding_sums", types, gW.size, *_sorted(self.xp, keys), gy, gW, width, x.size)
        return gW


class DeterministicScatterAddKernel(ScatterAddKernel):
    """Kernel of ``scatter_add`` whose sums are made in a fixed order: of sorted positions."""

    sums = DeterministicEmbeddingKernel

    def adds(self, a: Any) -> bool:
        """Tells whether CuPy is not to add to an array."""
        return True


class DeterministicROIPooling2DKernel(ROIPooling2DKernel):
    """Kernel of ``roi_pooling_2d`` whose gradients are sums in the order of the regions."""

    def backward(
        self, gy: Any, indices: Any, rois: Any, in_size: tuple[int, int], batch: int
    ) -> Any:
        gy, indices = self.contiguous(gy), self.contiguous(indices)
        channels = gy.shape[1]
        gx = self.xp.zeros((batch, channels, *in_size), compute_dtype(gy.dtype))
        sizes = (len(gy), channels, prod(in_size), prod(gy.shape[2:]))
        arrays = (gy, indices, self._rois(rois, gy.dtype), gx)
        types = self.types(gy, gx)
        self.each("roi_backward_in_order", types, batch * channels, *arrays, *sizes)
        return gx.astype(gy.dtype, copy=False)


class DeterministicSpatialTransformerSamplerKernel(SpatialTransformerSamplerKernel):
    """Kernel of ``spatial_transformer_sampler`` whose gradients are sums in a fixed order.

    Points are sorted by the four pixels they lie between.
    """

    def backward(self, x: Any, grid: Any, gy: Any) -> tuple[Any, Any]:
        xp = self.xp
        x, grid, gy = map(self.contiguous, (x, grid, gy))
        points = prod(grid.shape[2:])
        types, count = self.types(x, gy, grid), len(x) * points
        keys, gx = self.new(count, numpy.int64), self.new_like(x)
        self.each("sampler_keys", types, count, grid, keys, *x.shape[2:], points)
        sizes = (*x.shape[1:], points, count)
        self.each("sampler_sums", types, gx.size, *_sorted(xp, keys), grid, gy, gx, *sizes)
        return gx, self._backward(x, grid, gy, None)
