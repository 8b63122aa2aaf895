"""Reference kernels of poolings."""

from __future__ import annotations

from math import prod
from types import EllipsisType

import numpy

from chainer.backends.compute_dtypes import compute_dtype, to_compute_dtype
from chainer.backends.numpy.kernels._window_shifts import (
    can_shift,
    has_negative_zeros,
    shifted_codes,
    shifted_maxima,
)
from chainer.backends.numpy.kernels._window_stages import (
    reduce_stage,
    reduced_shape,
    spread_windows,
    stages,
    window_sums,
)
from chainer.backends.operations.poolings import PoolingGeometry
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.recorder import may_read_values
from chainer.core.typing import Array, DType, Shape


class MaxPoolingNDKernel(ReferenceKernel):
    """Max pooling by maxima of slices; only ``backward`` looks for the positions of the maxima."""

    def forward(self, x: Array, out_size: Shape, geometry: PoolingGeometry) -> tuple[Array, None]:
        if can_shift(x, geometry, out_size):
            y = shifted_maxima(x, geometry, out_size)
            # The two zeros are equal, so that shifts may find the other one than rows.
            if not has_negative_zeros(x, y):
                return y, None
        y = x
        for stage in stages(geometry, x.shape[2:], out_size):
            y = reduce_stage(self.xp, "maximum", y, stage, out_size, -numpy.inf)
        return y, None

    def backward(
        self, x: Array, y: Array, gy: Array, residual: None, geometry: PoolingGeometry
    ) -> Array:
        indexing = WindowIndexingKernel(self.backend)
        codes = indexing.codes(x, y, geometry)
        return indexing.scatter(gy, codes, x.shape[2:], geometry)


class WindowIndexingKernel(ReferenceKernel):
    """Indexing of windows by way of flat indices.

    A *code* is the row-major position of an element in its window. The code ``prod(ksize)``
    represents a window without a match.
    """

    def find(self, x: Array, y: Array, geometry: PoolingGeometry) -> Array:
        codes = self.codes(x, y, geometry)
        return self.xp.where(codes == prod(geometry.ksize), 0, codes).astype(numpy.intp)

    def codes(self, x: Array, y: Array, geometry: PoolingGeometry) -> Array:
        """Returns codes in a small integer type."""
        is_float = y.dtype.kind == "f"
        if not may_read_values(self.backend):
            # Reading the codes on the host would wait for the device. Handle NaN at once instead.
            return self._codes(x, y, geometry, with_nan=is_float)
        # No comparison finds a maximum that is NaN.
        if can_shift(x, geometry, y.shape[2:]) and not bool(numpy.isnan(y).any()):
            return shifted_codes(x, geometry, y.shape[2:])
        codes = self._codes(x, y, geometry, with_nan=False)
        # A maximum that is NaN equals no element, so that its window has no match at first.
        if is_float and bool((codes == prod(geometry.ksize)).any()):
            codes = self._codes(x, y, geometry, with_nan=True)
        return codes

    def _codes(self, x: Array, y: Array, geometry: PoolingGeometry, with_nan: bool) -> Array:
        """Finds, axis by axis, the lowest code among the elements that attain the maximum."""
        xp = self.xp
        none = prod(geometry.ksize)
        # Sums of two codes must not overflow, hence 128. A byte per element is eight times less
        # memory to read than an index.
        dtype = numpy.dtype(numpy.uint8 if none < 128 else numpy.intp)
        out_size = y.shape[2:]
        found: Array = None
        plan = list(stages(geometry, x.shape[2:], out_size))
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
                # `none` where the candidate differs from the maximum, else its code.
                code = differs.astype(dtype)
                if found is None:
                    # Arithmetic instead of a maximum with a number, which NumPy computes slowly.
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

    def gather(self, x: Array, indices: Array, geometry: PoolingGeometry) -> Array:
        xp = self.xp
        in_size = x.shape[2:]
        size = _covered_size(geometry, in_size, indices.shape[2:])
        if size != in_size:
            padded = xp.zeros((*x.shape[:2], *size), x.dtype)
            padded[_inside(geometry.pad, in_size)] = x
            x = padded
        return x.reshape(-1).take(self._flat_indices(indices, size, geometry))

    def scatter(self, y: Array, indices: Array, in_size: Shape, geometry: PoolingGeometry) -> Array:
        xp = self.xp
        size = _covered_size(geometry, in_size, y.shape[2:])
        dtype = compute_dtype(y.dtype)
        x = xp.zeros((*y.shape[:2], *size), dtype)
        if y.size:
            valid = indices < prod(geometry.ksize)
            flat = self._flat_indices(indices, size, geometry)
            values = y.astype(dtype, copy=False)
            if not may_read_values(self.backend):
                # A selection has a size that the host would have to wait for.
                values = xp.where(valid, values, 0)
            elif not bool(valid.all()):
                flat, values = flat[valid], values[valid]
            xp.add.at(x.reshape(-1), flat.ravel(), values.ravel())
        if size != in_size:
            x = x[_inside(geometry.pad, in_size)]
        return x.astype(y.dtype, order="C", copy=False)

    def _flat_indices(self, indices: Array, size: Shape, geometry: PoolingGeometry) -> Array:
        """Returns indices into flattened images of spatial size ``size``, padding included."""
        xp = self.xp
        ksize, stride, _ = geometry
        n = len(ksize)
        shape = indices.shape
        steps = [prod(size[i + 1 :]) for i in range(n)]
        offsets = xp.zeros((1,) * n, numpy.intp)
        for i, (k, step) in enumerate(zip(ksize, steps, strict=True)):
            offsets = offsets + _along(xp.arange(k) * step, i, n)
        # The table has one more entry, for windows without a match.
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


def _along(values: Array, axis: int, ndim: int) -> Array:
    """Returns a vector as an array of ``ndim`` dimensions whose elements are along an axis."""
    shape = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)


def _covered_size(geometry: PoolingGeometry, in_size: Shape, out_size: Shape) -> Shape:
    """Returns the size of the images with as much padding as the windows reach into."""
    sizes = zip(in_size, out_size, *geometry, strict=True)
    return tuple([max(n + p, (m - 1) * s + k) for n, m, k, s, p in sizes])


def _inside(pad: Shape, in_size: Shape) -> tuple[EllipsisType | slice, ...]:
    """Returns the index of the images without their padding."""
    return (..., *[slice(p, p + n) for p, n in zip(pad, in_size, strict=True)])


class AveragePoolingNDKernel(ReferenceKernel):
    """Average pooling by sums of slices."""

    def forward(
        self, x: Array, out_size: Shape, geometry: PoolingGeometry, pad_value: int | None
    ) -> Array:
        y = window_sums(self.xp, to_compute_dtype(x), geometry, out_size)
        y *= self._weights(y.dtype, geometry, x.shape[2:], out_size, pad_value)
        return y.astype(x.dtype, copy=False)

    def backward(
        self, gy: Array, in_size: Shape, geometry: PoolingGeometry, pad_value: int | None
    ) -> Array:
        wide = to_compute_dtype(gy)
        weights = self._weights(wide.dtype, geometry, in_size, gy.shape[2:], pad_value)
        gx = spread_windows(self.xp, wide * weights, geometry, in_size)
        return gx.astype(gy.dtype, copy=False)

    def _weights(
        self,
        dtype: DType,
        geometry: PoolingGeometry,
        in_size: Shape,
        out_size: Shape,
        pad_value: int | None,
    ) -> Array:
        """Returns the reciprocals of the numbers of elements that count."""
        ksize, stride, pad = geometry
        if pad_value is not None or not any(pad):
            return dtype.type(1.0 / prod(ksize))
        xp = self.xp
        counts = xp.ones((1,) * len(ksize), dtype)
        sizes = zip(ksize, in_size, out_size, stride, pad, strict=True)
        for axis, (k, n, m, s, p) in enumerate(sizes):
            starts = xp.arange(m) * s - p
            inside = xp.minimum(starts + k, n) - xp.maximum(starts, 0)
            # The sum of a window without elements is zero; a count of one avoids dividing by zero.
            counts = counts * _along(xp.maximum(inside, 1).astype(dtype), axis, len(ksize))
        return 1 / counts


class UnpoolingNDKernel(ReferenceKernel):
    """Unpooling by slices."""

    def forward(self, x: Array, out_size: Shape, geometry: PoolingGeometry) -> Array:
        y = spread_windows(self.xp, to_compute_dtype(x), geometry, out_size)
        return y.astype(x.dtype, copy=False)

    def backward(self, gy: Array, in_size: Shape, geometry: PoolingGeometry) -> Array:
        gx = window_sums(self.xp, to_compute_dtype(gy), geometry, in_size)
        return gx.astype(gy.dtype, copy=False)
