"""Convolutions by matrix products of cuBLAS, and the extraction of patches."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy.kernels._windows import WindowKernel, window_record
from chainer.backends.operations.convolutions import ConvolutionGeometry
from chainer.core.arrays.chunks import chunks
from chainer.core.typing import Array, DType, DTypeLike, Shape

#: Memory for the patches of one block of samples: large enough to keep a GPU busy, and a small part
#: of its memory.
_PATCH_BYTES = 1 << 28


class ConvolutionNDKernel(WindowKernel):
    """Kernel of ``convolution_nd``: patches of many samples at once, and batched products.

    CuPy computes batched products of float16 in float32. It has no products of bfloat16, which is
    converted to float32 first.
    """

    def forward(
        self, x: Array, W: Array, b: Array | None, out_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        x, o, groups = self.contiguous(x), W.shape[0], geometry.groups
        dtype = compute_dtype(x.dtype, W.dtype)
        weight = W.reshape(groups, o // groups, -1).astype(dtype, copy=False)
        y = self.new((len(x), o, *out_size), dtype)
        products = y.reshape(len(x), groups, o // groups, prod(out_size))
        for block, patches in self._patches(x, W.shape[2:], tuple(out_size), geometry, dtype):
            self.xp.matmul(weight, patches, out=products[block])
        if b is not None:
            y += b.reshape(-1, *[1] * len(out_size))
        return y.astype(x.dtype, copy=False)

    def backward_data(
        self, gy: Array, W: Array, b: Array | None, in_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        ksize, out_size = W.shape[2:], gy.shape[2:]
        (n, o), groups = gy.shape[:2], geometry.groups
        c = W.shape[1] * groups
        dtype = compute_dtype(gy.dtype, W.dtype)
        weight = W.reshape(groups, o // groups, -1).astype(dtype, copy=False).transpose(0, 2, 1)
        gradients = _grouped(gy.astype(dtype, copy=False), groups)
        gx = self.new((n, c, *in_size), gy.dtype)
        record = window_record(tuple(in_size), out_size, ksize, *geometry[:3])
        bytes_of_sample = c * prod(ksize) * prod(out_size) * dtype.itemsize
        for block in chunks(n, bytes_of_sample, _PATCH_BYTES):
            patches = self.contiguous(self.xp.matmul(weight, gradients[block]))
            part = gx[block]
            self.call("add_patches", part, patches, part, record, patches=patches)
        if b is not None:
            gx += b.reshape(c, *[1] * len(ksize))
        return gx

    def backward_weight(
        self, x: Array, gy: Array, ksize: Shape, dtype: DTypeLike, geometry: ConvolutionGeometry
    ) -> Array:
        xp = self.xp
        x, groups = self.contiguous(x), geometry.groups
        o, c = gy.shape[1], x.shape[1]
        sum_dtype = compute_dtype(x.dtype, gy.dtype)
        gradients = _grouped(gy.astype(sum_dtype, copy=False), groups)
        total = xp.zeros((groups, o // groups, c // groups * prod(ksize)), sum_dtype)
        for block, patches in self._patches(x, tuple(ksize), gy.shape[2:], geometry, sum_dtype):
            products = xp.matmul(gradients[block], patches.transpose(0, 1, 3, 2))
            total += products.sum(axis=0)
        return total.reshape(o, c // groups, *ksize).astype(dtype, copy=False)

    def _patches(
        self, x: Array, ksize: Shape, out_size: Shape, geometry: ConvolutionGeometry, dtype: DType
    ) -> Iterator[tuple[slice, Array]]:
        """Yields slices of the samples, and their patches ``(n, groups, rows, positions)``."""
        (n, c), groups = x.shape[:2], geometry.groups
        record = window_record(x.shape[2:], out_size, ksize, *geometry[:3])
        rows, positions = c // groups * prod(ksize), prod(out_size)
        for block in chunks(n, groups * rows * positions * dtype.itemsize, _PATCH_BYTES):
            part = x[block]
            patches = self.new((len(part), groups, rows, positions), x.dtype)
            self.call("copy_patches", patches, part, patches, record)
            yield block, patches.astype(dtype, copy=False)


def _grouped(gy: Array, groups: int) -> Array:
    """Views the gradient of the output as ``(n, groups, channels of a group, positions)``."""
    n, o = gy.shape[:2]
    return gy.reshape(n, groups, o // groups, prod(gy.shape[2:]))


class Im2ColKernel(WindowKernel):
    """Kernel of ``im2col``."""

    def forward(
        self, x: Array, ksize: Shape, out_size: Shape, geometry: ConvolutionGeometry
    ) -> Array:
        x = self.contiguous(x)
        patches = self.new((*x.shape[:2], *ksize, *out_size), x.dtype)
        record = window_record(x.shape[2:], tuple(out_size), tuple(ksize), *geometry[:3])
        self.call("copy_patches", patches, x, patches, record)
        return patches

    def backward(self, patches: Array, in_size: Shape, geometry: ConvolutionGeometry) -> Array:
        n = len(in_size)
        patches = self.contiguous(patches)
        ksize, out_size = patches.shape[2 : 2 + n], patches.shape[2 + n :]
        x = self.new((*patches.shape[:2], *in_size), patches.dtype)
        record = window_record(tuple(in_size), out_size, ksize, *geometry[:3])
        self.call("add_patches", x, patches, x, record, patches=patches)
        return x
