"""Reference kernels of poolings."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy

from chainer.backends.numpy.kernels._window_stages import (
    reduce_stage,
    reduced_shape,
    spread_windows,
    stages,
    window_sums,
)
from chainer.core.arrays.backend import HOST_FAMILY
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.windows import Sizes


class MaxPoolingNDKernel(ReferenceKernel):
    """Max pooling by maxima of slices; where the maxima were is found out in backward."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes
    ) -> tuple[Any, Any]:
        y = x
        for stage in stages(ksize, x.shape[2:], out_size, stride, pad):
            y = reduce_stage(self.xp, "maximum", y, stage, out_size, -numpy.inf)
        return y, None

    def backward(
        self, x: Any, y: Any, gy: Any, residual: Any, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        indexing = WindowIndexingKernel(self.backend)
        codes = indexing.codes(x, y, ksize, stride, pad)
        return indexing.scatter(gy, codes, x.shape[2:], ksize, stride, pad)


class WindowIndexingKernel(ReferenceKernel):
    """Indexing of windows by way of flat indexes."""

    def find(self, x: Any, y: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        codes = self.codes(x, y, ksize, stride, pad)
        return self.xp.where(codes == prod(ksize), 0, codes).astype(numpy.intp)

    def codes(self, x: Any, y: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        """Returns indexes in a small integer type; ``prod(ksize)`` for windows without a match."""
        if self.backend.family != HOST_FAMILY:  # where looking at the codes means waiting for them
            return self._codes(x, y, ksize, stride, pad, y.dtype.kind == "f")
        codes = self._codes(x, y, ksize, stride, pad, False)
        if y.dtype.kind == "f" and bool((codes == prod(ksize)).any()):
            codes = self._codes(x, y, ksize, stride, pad, True)
        return codes

    def _codes(
        self, x: Any, y: Any, ksize: Sizes, stride: Sizes, pad: Sizes, with_nan: bool
    ) -> Any:
        # Along one axis after the other the lowest code among the elements that attain the maximum.
        xp = self.xp
        none = prod(ksize)
        dtype = numpy.dtype(numpy.uint8 if none < 128 else numpy.intp)
        out_size = y.shape[2:]
        found: Any = None
        plan = list(stages(ksize, x.shape[2:], out_size, stride, pad))
        for stage in plan:
            last = stage is plan[-1]
            top = y if last else reduce_stage(xp, "maximum", x, stage, out_size, -numpy.inf)
            codes = xp.full(reduced_shape(x.shape, stage, out_size), none, dtype)
            for piece in stage.pieces:
                candidates = x[piece.elements]
                if with_nan:
                    differs = (candidates != top[piece.windows]) & (candidates == candidates)
                else:
                    differs = candidates != top[piece.windows]
                code = differs.astype(dtype)
                if found is None:
                    # Not a maximum with a number, which NumPy computes slowly.
                    code *= dtype.type(none - piece.code)
                    code += dtype.type(piece.code)
                else:
                    code *= dtype.type(none)
                    own = found[piece.elements] + dtype.type(piece.code)
                    xp.maximum(code, own, out=code)
                part = codes[piece.windows]
                xp.minimum(part, code, out=part)
            x, found = top, codes
        return found

    def gather(self, x: Any, indices: Any, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        xp = self.xp
        in_size = x.shape[2:]
        size = _covered(ksize, in_size, indices.shape[2:], stride, pad)
        if size != in_size:
            padded = xp.zeros((*x.shape[:2], *size), x.dtype)
            padded[_inner(pad, in_size)] = x
            x = padded
        return x.reshape(-1).take(self._flat(indices, size, ksize, stride))

    def scatter(
        self, y: Any, indices: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes
    ) -> Any:
        xp = self.xp
        size = _covered(ksize, in_size, y.shape[2:], stride, pad)
        dtype = numpy.float32 if is_half(y.dtype) else y.dtype
        x = xp.zeros((*y.shape[:2], *size), dtype)
        if y.size:
            valid = indices < prod(ksize)
            flat = self._flat(indices, size, ksize, stride)
            values = y.astype(dtype, copy=False)
            if self.backend.family != HOST_FAMILY:
                values = xp.where(valid, values, 0)
            elif not bool(valid.all()):
                flat, values = flat[valid], values[valid]
            xp.add.at(x.reshape(-1), flat.ravel(), values.ravel())
        if size != in_size:
            x = x[_inner(pad, in_size)]
        return x.astype(y.dtype, order="C", copy=False)

    def _flat(self, indices: Any, size: Sizes, ksize: Sizes, stride: Sizes) -> Any:
        """Returns indexes into the ravelled images of spatial size ``size``, padding included."""
        xp = self.xp
        n = len(ksize)
        shape = indices.shape
        steps = [prod(size[i + 1 :]) for i in range(n)]
        offsets = xp.zeros((1,) * n, numpy.intp)
        for i, (k, step) in enumerate(zip(ksize, steps, strict=True)):
            offsets = offsets + _along(xp.arange(k) * step, i, n)
        # One more entry for windows without a match.
        table = xp.zeros(prod(ksize) + 1, numpy.intp)
        table[:-1] = offsets.ravel()
        flat = table.take(indices)
        starts = xp.zeros((1,) * n, numpy.intp)
        for i, (m, s, step) in enumerate(zip(shape[2:], stride, steps, strict=True)):
            starts = starts + _along(xp.arange(m) * (s * step), i, n)
        flat += starts
        images = xp.arange(shape[0] * shape[1]) * prod(size)
        flat += images.reshape(*shape[:2], *[1] * n)
        return flat


def _along(values: Any, axis: int, ndim: int) -> Any:
    shape = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)


def _covered(
    ksize: Sizes, in_size: Sizes, out_size: Sizes, stride: Sizes, pad: Sizes
) -> tuple[int, ...]:
    """Returns the size of the images with as much padding as the windows reach into."""
    return tuple(
        [
            max(n + p, (m - 1) * s + k)
            for k, n, m, s, p in zip(ksize, in_size, out_size, stride, pad, strict=True)
        ]
    )


def _inner(pad: Sizes, in_size: Sizes) -> tuple[Any, ...]:
    return (..., *[slice(p, p + n) for p, n in zip(pad, in_size, strict=True)])


def _widened(x: Any) -> Any:
    return x.astype(numpy.float32) if is_half(x.dtype) else x


class AveragePoolingNDKernel(ReferenceKernel):
    """Average pooling by sums of slices."""

    def forward(
        self, x: Any, ksize: Sizes, stride: Sizes, pad: Sizes, out_size: Sizes, pad_value: Any
    ) -> Any:
        y = window_sums(self.xp, _widened(x), ksize, stride, pad, out_size)
        y *= self._weights(y.dtype, ksize, stride, pad, x.shape[2:], out_size, pad_value)
        return y.astype(x.dtype, copy=False)

    def backward(
        self, gy: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes, pad_value: Any
    ) -> Any:
        out_size = gy.shape[2:]
        wide = _widened(gy)
        weights = self._weights(wide.dtype, ksize, stride, pad, in_size, out_size, pad_value)
        gx = spread_windows(self.xp, wide * weights, ksize, stride, pad, in_size)
        return gx.astype(gy.dtype, copy=False)

    def _weights(
        self,
        dtype: Any,
        ksize: Sizes,
        stride: Sizes,
        pad: Sizes,
        in_size: Sizes,
        out_size: Sizes,
        pad_value: Any,
    ) -> Any:
        """Returns the reciprocals of the numbers of elements that count."""
        if pad_value is not None or not any(pad):
            return dtype.type(1.0 / prod(ksize))
        xp = self.xp
        counts = xp.ones((1,) * len(ksize), dtype)
        for axis, (k, n, m, s, p) in enumerate(
            zip(ksize, in_size, out_size, stride, pad, strict=True)
        ):
            starts = xp.arange(m) * s - p
            inside = xp.minimum(starts + k, n) - xp.maximum(starts, 0)
            shape = [1] * len(ksize)
            shape[axis] = m
            counts = counts * xp.maximum(inside, 1).reshape(shape).astype(dtype)
        return 1 / counts


class UnpoolingNDKernel(ReferenceKernel):
    """Unpooling by slices."""

    def forward(self, x: Any, out_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        y = spread_windows(self.xp, _widened(x), ksize, stride, pad, out_size)
        return y.astype(x.dtype, copy=False)

    def backward(self, gy: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, pad: Sizes) -> Any:
        gx = window_sums(self.xp, _widened(gy), ksize, stride, pad, in_size)
        return gx.astype(gy.dtype, copy=False)
