"""Convolutions by matrix products of cuBLAS, and the extraction of patches."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy

from chainer.backends.cupy.compiler import compute_dtype, types_for
from chainer.backends.cupy.kernels._base import is_wide
from chainer.backends.cupy.kernels._windows import WindowKernel, window_record
from chainer.core.arrays.windows import Sizes

#: Memory for patches of one block of samples.
_PATCH_BYTES = 1 << 28


class ConvolutionNDKernel(WindowKernel):
    """Kernel of ``convolution_nd``: patches of many samples at once, and batched products.

    CuPy computes batched products of float16 in float32, and has none of bfloat16.
    """

    def forward(
        self,
        x: Any,
        W: Any,
        b: Any,
        out_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        xp = self.xp
        x, o = self.contiguous(x), W.shape[0]
        dtype = compute_dtype(numpy.result_type(x.dtype, W.dtype))
        weight = self._weight(W, groups, dtype)
        y = self.new((len(x), o, *out_size), dtype)
        products = y.reshape(len(x), groups, o // groups, prod(out_size))
        for block, patches in self._blocks(
            x, W.shape[2:], tuple(out_size), stride, pad, dilate, groups, dtype
        ):
            xp.matmul(weight, patches, out=products[block])
        if b is not None:
            y += b.reshape(-1, *[1] * len(out_size))
        return y.astype(x.dtype, copy=False)

    def backward_data(
        self,
        gy: Any,
        W: Any,
        b: Any,
        in_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        xp = self.xp
        ksize, out_size = W.shape[2:], gy.shape[2:]
        n, c = len(gy), W.shape[1] * groups
        dtype = compute_dtype(numpy.result_type(gy.dtype, W.dtype))
        weight = self._weight(W, groups, dtype).transpose(0, 2, 1)
        gradients = self._grouped(gy.astype(dtype, copy=False), groups)
        gx = self.new((n, c, *in_size), gy.dtype)
        g = window_record(tuple(in_size), out_size, ksize, stride, pad, dilate)
        for block in _slices(n, c * prod(ksize) * prod(out_size) * dtype.itemsize):
            patches = self.contiguous(xp.matmul(weight, gradients[block]))
            part = gx[block]
            types = types_for(gx.dtype, wide=is_wide(part, patches), P=patches.dtype)
            self.each("add_patches", types, part.size, patches, part, g)
        if b is not None:
            gx += b.reshape(c, *[1] * len(ksize))
        return gx

    def backward_weight(
        self,
        x: Any,
        gy: Any,
        ksize: Sizes,
        dtype: Any,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
    ) -> Any:
        xp = self.xp
        x = self.contiguous(x)
        o, c = gy.shape[1], x.shape[1]
        working = compute_dtype(numpy.result_type(x.dtype, gy.dtype))
        gradients = self._grouped(gy.astype(working, copy=False), groups)
        total = xp.zeros((groups, o // groups, c // groups * prod(ksize)), working)
        for block, patches in self._blocks(
            x, tuple(ksize), gy.shape[2:], stride, pad, dilate, groups, working
        ):
            products = xp.matmul(gradients[block], patches.transpose(0, 1, 3, 2))
            total += products.sum(axis=0)
        return total.reshape(o, c // groups, *ksize).astype(dtype, copy=False)

    def _weight(self, W: Any, groups: int, dtype: Any) -> Any:
        return W.reshape(groups, W.shape[0] // groups, -1).astype(dtype, copy=False)

    def _grouped(self, gy: Any, groups: int) -> Any:
        n, o = gy.shape[:2]
        return gy.reshape(n, groups, o // groups, prod(gy.shape[2:]))

    def _blocks(
        self,
        x: Any,
        ksize: Sizes,
        out_size: Sizes,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
        groups: int,
        dtype: Any,
    ) -> Iterator[tuple[slice, Any]]:
        """Yields slices of the samples, and their patches ``(n, groups, rows, positions)``."""
        n, c = x.shape[:2]
        g = window_record(x.shape[2:], out_size, ksize, stride, pad, dilate)
        rows, positions = c // groups * prod(ksize), prod(out_size)
        for block in _slices(n, groups * rows * positions * dtype.itemsize):
            part = x[block]
            patches = self.new((len(part), groups, rows, positions), x.dtype)
            types = types_for(x.dtype, wide=is_wide(part, patches), P=x.dtype)
            self.each("copy_patches", types, patches.size, part, patches, g)
            yield block, patches.astype(dtype, copy=False)


def _slices(count: int, bytes_each: int) -> Iterator[slice]:
    size = max(1, min(count, _PATCH_BYTES // max(bytes_each, 1)))
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


class Im2ColKernel(WindowKernel):
    """Kernel of ``im2col``."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes, out_size: Sizes
    ) -> Any:
        x = self.contiguous(x)
        patches = self.new((*x.shape[:2], *ksize, *out_size), x.dtype)
        g = window_record(x.shape[2:], tuple(out_size), tuple(ksize), stride, pad, dilate)
        self.call("copy_patches", patches, x, patches, g)
        return patches

    def backward(
        self, patches: Any, in_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
    ) -> Any:
        n = len(in_size)
        patches = self.contiguous(patches)
        ksize, out_size = patches.shape[2 : 2 + n], patches.shape[2 + n :]
        x = self.new((*patches.shape[:2], *in_size), patches.dtype)
        g = window_record(tuple(in_size), out_size, ksize, stride, pad, dilate)
        self.call("add_patches", x, patches, x, g, patches=patches)
        return x
