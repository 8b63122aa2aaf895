"""Reference kernels of convolutions: patches copied out, and matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy

from chainer.core.arrays.chunks import chunks
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.windows import (
    Sizes,
    add_patches,
    copy_patches,
    reaches_padding,
    sum_patches,
)

# Samples are processed in blocks whose patches stay in the cache while the product reads them.
_BLOCK_BYTES = 1 << 20
# Below this many output positions one product over all samples of a block beats one per sample.
_FEW_POSITIONS = 64


def compute_dtype(*arrays: Any) -> Any:
    """Returns the dtype to compute in: the common one, but float32 for float16."""
    dtype = numpy.result_type(*[array.dtype for array in arrays])
    return numpy.dtype(numpy.float32) if is_half(dtype) else dtype


class ConvolutionNDKernel(ReferenceKernel):
    """Convolution as a matrix product of the weight with patches.

    A group's weight is a matrix ``(O / G, C / G * K)``. Its product with the patches of a sample,
    arranged ``(C / G * K, positions)``, is the output in the layout it is wanted in. Where there
    are few positions, the patches of a block of samples are arranged side by side, ``(C / G * K,
    samples * positions)``.
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
        n, c = x.shape[:2]
        o, ksize = W.shape[0], W.shape[2:]
        dtype = compute_dtype(x, W)
        y = xp.empty((n, o, *out_size), x.dtype)
        positions = prod(out_size)
        rows = c // groups * prod(ksize)
        weight = W.reshape(groups, o // groups, rows).astype(dtype, copy=False)
        products = y.reshape(n, groups, o // groups, positions)
        bias = None if b is None else b.reshape(groups, o // groups, 1)
        if _is_pointwise(ksize, x.shape[2:], out_size, stride, pad):
            patches = x.reshape(n, groups, rows, positions).astype(dtype, copy=False)
            if products.dtype == dtype:
                xp.matmul(weight, patches, out=products)
            else:
                products[...] = xp.matmul(weight, patches)
            if bias is not None:
                products += bias
            return y
        buffer = _Patches(
            xp, n, c, groups, ksize, x.shape[2:], out_size, dtype, stride, pad, dilate
        )
        side_by_side = positions <= _FEW_POSITIONS
        for block in buffer.blocks():
            target = products[block]
            if side_by_side:
                product = xp.matmul(weight, buffer.gather_side_by_side(x[block]))
                target[...] = product.reshape(groups, o // groups, -1, positions).transpose(
                    2, 0, 1, 3
                )
            elif y.dtype == dtype:
                xp.matmul(weight, buffer.gather(x[block]), out=target)
            else:
                target[...] = xp.matmul(weight, buffer.gather(x[block]))
            if bias is not None:
                target += bias
        return y

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
        n, o = gy.shape[:2]
        ksize, out_size = W.shape[2:], gy.shape[2:]
        c = W.shape[1] * groups
        dtype = compute_dtype(gy, W)
        positions = prod(out_size)
        rows = c // groups * prod(ksize)
        pointwise = _is_pointwise(ksize, in_size, out_size, stride, pad)
        if not pointwise and o <= 2 * c and (set(stride) == {1} or set(dilate) == {1}):
            # Copying patches out is three times as fast as adding them up.
            return self._backward_data_by_phases(gy, W, b, in_size, stride, pad, dilate, groups)
        weight = W.reshape(groups, o // groups, rows).astype(dtype, copy=False).transpose(0, 2, 1)
        gradients = gy.reshape(n, groups, o // groups, positions).astype(dtype, copy=False)
        if pointwise:
            gx = xp.matmul(weight, gradients).reshape(n, c, *in_size)
        else:
            gx = xp.zeros((n, c, *in_size), dtype)
            side_by_side = positions <= _FEW_POSITIONS
            buffer: Any = None
            for block in chunks(n, c * prod(ksize) * positions * dtype.itemsize, _BLOCK_BYTES):
                part = gradients[block]
                count = len(part)
                if side_by_side:
                    part = part.transpose(1, 2, 0, 3).reshape(groups, o // groups, -1)
                    patches = xp.matmul(weight, part).reshape(c, *ksize, count, *out_size)
                    patches = _samples_first(patches, len(ksize))
                else:
                    if buffer is None:
                        buffer = xp.empty((count, groups, rows, positions), dtype)
                    patches = xp.matmul(weight, part, out=buffer[:count])
                    patches = patches.reshape(count, c, *ksize, *out_size)
                add_patches(patches, gx[block], stride, pad, dilate)
        if b is not None:
            gx += b.reshape(c, *[1] * len(ksize))
        return gx.astype(gy.dtype, copy=False)

    def _backward_data_by_phases(
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
        """Computes the gradient as convolutions of ``gy`` with stride 1.

        There is one for each position modulo the stride, with those elements of the weight that
        ever meet such positions.
        """
        xp = self.xp
        n = len(stride)
        gx = xp.zeros((len(gy), W.shape[1] * groups, *in_size), gy.dtype)
        for phase in product(*map(range, stride)):
            part = W[(..., *[slice(i, None, s) for i, s in zip(phase, stride, strict=True)])]
            # Number of the window that starts the phase, position of it and number of positions.
            first = [-((i - p) // s) for i, p, s in zip(phase, pad, stride, strict=True)]
            start = [f * s - p + i for f, i, p, s in zip(first, phase, pad, stride, strict=True)]
            count = tuple(
                [-((q - size) // s) for q, size, s in zip(start, in_size, stride, strict=True)]
            )
            if part.size == 0 or min(count) <= 0:
                continue
            back = tuple(
                [d * (k - 1) - f for d, k, f in zip(dilate, part.shape[2:], first, strict=True)]
            )
            flipped = _transposed(xp, part, groups)
            positions = [slice(q, None, s) for q, s in zip(start, stride, strict=True)]
            gx[(..., *positions)] = self.forward(
                gy, flipped, None, count, (1,) * n, back, dilate, groups
            )
        if b is not None:
            gx += b.reshape(-1, *[1] * n)
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
        n, c = x.shape[:2]
        o, out_size = gy.shape[1], gy.shape[2:]
        positions = prod(out_size)
        rows = c // groups * prod(ksize)
        working = compute_dtype(x, gy)
        gradients = gy.reshape(n, groups, o // groups, positions)
        total = xp.zeros((groups, o // groups, rows), working)
        pointwise = _is_pointwise(ksize, x.shape[2:], out_size, stride, pad)
        if pointwise:
            samples = x.reshape(n, groups, rows, positions)
            parts = chunks(n, c * positions * working.itemsize, _BLOCK_BYTES)
        else:
            buffer = _Patches(
                xp, n, c, groups, ksize, x.shape[2:], out_size, working, stride, pad, dilate
            )
            parts = buffer.blocks()
        for block in parts:
            part = gradients[block].transpose(1, 2, 0, 3).reshape(groups, o // groups, -1)
            if pointwise:
                patches = samples[block].transpose(1, 2, 0, 3).reshape(groups, rows, -1)
            else:
                patches = buffer.gather_side_by_side(x[block])
            part = part.astype(working, copy=False)
            patches = patches.astype(working, copy=False)
            total += xp.matmul(part, patches.transpose(0, 2, 1))
        return total.reshape(o, c // groups, *ksize).astype(dtype, copy=False)


class _Patches:
    """Buffer for the patches of a block of samples, in one of two arrangements.

    Positions in the padding are the same for each block: they are set to zero once.
    """

    def __init__(
        self,
        xp: Any,
        n: int,
        c: int,
        groups: int,
        ksize: Sizes,
        in_size: Sizes,
        out_size: Sizes,
        dtype: Any,
        stride: Sizes,
        pad: Sizes,
        dilate: Sizes,
    ) -> None:
        self._shape = (c, *ksize, *out_size)
        self._ksize = ksize
        self._out_size = out_size
        self._groups = groups
        self._geometry = (stride, pad, dilate)
        self._count = n
        self._itemsize = dtype.itemsize
        padded = reaches_padding(ksize, in_size, out_size, stride, pad, dilate)
        self._new = xp.zeros if padded else xp.empty
        self._dtype = dtype
        self._buffer: Any = None

    def blocks(self) -> Iterator[slice]:
        """Iterates over slices of the samples."""
        yield from chunks(self._count, prod(self._shape) * self._itemsize, _BLOCK_BYTES)

    def gather(self, x: Any) -> Any:
        """Returns patches of shape ``(samples, groups, rows, positions)``."""
        count = len(x)
        if self._buffer is None:
            self._buffer = self._new((count, *self._shape), self._dtype)
        patches = self._buffer[:count]
        _copy(x, patches, *self._geometry)
        return patches.reshape(count, self._groups, -1, prod(self._out_size))

    def gather_side_by_side(self, x: Any) -> Any:
        """Returns patches of shape ``(groups, rows, samples * positions)``."""
        count = len(x)
        c = self._shape[0]
        shape = (c, *self._ksize, count, *self._out_size)
        if self._buffer is None or self._buffer.shape != shape:
            self._buffer = self._new(shape, self._dtype)
        _copy(x, _samples_first(self._buffer, len(self._ksize)), *self._geometry)
        rows = c // self._groups * prod(self._ksize)
        return self._buffer.reshape(self._groups, rows, count * prod(self._out_size))


def _copy(x: Any, patches: Any, stride: Sizes, pad: Sizes, dilate: Sizes) -> None:
    copy_patches(x, patches, stride, pad, dilate, None)


def _samples_first(patches: Any, ndim: int) -> Any:
    """Views patches ``(C, *ksize, N, *out_size)`` as ``(N, C, *ksize, *out_size)``."""
    return patches.transpose(ndim + 1, *range(ndim + 1), *range(ndim + 2, 2 * ndim + 2))


def _transposed(xp: Any, W: Any, groups: int) -> Any:
    """Returns the weight of the convolution that computes the gradient of one of stride 1."""
    o, c = W.shape[:2]
    ksize = W.shape[2:]
    W = W.reshape(groups, o // groups, c, *ksize)[(..., *[slice(None, None, -1)] * len(ksize))]
    return xp.ascontiguousarray(W.swapaxes(1, 2)).reshape(groups * c, o // groups, *ksize)


def _is_pointwise(ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes) -> bool:
    """Tells whether patches are the input itself."""
    return (
        prod(ksize) == 1
        and not any(pad)
        and set(stride) <= {1}
        and tuple(in_size) == tuple(out_size)
    )


class Im2ColKernel(ReferenceKernel):
    """Patches by slices."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes, out_size: Sizes
    ) -> Any:
        patches = self.xp.empty((*x.shape[:2], *ksize, *out_size), x.dtype)
        copy_patches(x, patches, stride, pad, dilate)
        return patches

    def backward(
        self, patches: Any, in_size: Sizes, stride: Sizes, pad: Sizes, dilate: Sizes
    ) -> Any:
        return sum_patches(self.xp, patches, in_size, stride, pad, dilate)
