"""CUDA kernels of pooling over regions of interest."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer.backends.cupy.compiler import compute_dtype
from chainer.backends.cupy.kernels._sampling import SamplingKernel


class ROIPooling2DKernel(SamplingKernel):
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
