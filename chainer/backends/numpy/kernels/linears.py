"""Reference kernel of the affine transformation."""

from __future__ import annotations

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DTypeLike


class LinearKernel(ReferenceKernel):
    """Affine transformation by matrix products."""

    def forward(self, x: Array, W: Array, b: Array) -> Array:
        y = _product(x, W.T, x.dtype)
        if b is not None:
            y += b
        return y

    def backward_data(self, gy: Array, W: Array) -> Array:
        return _product(gy, W, gy.dtype)

    def backward_weight(self, x: Array, gy: Array, dtype: DTypeLike) -> Array:
        return _product(gy.T, x, dtype)


def _product(a: Array, b: Array, dtype: DTypeLike) -> Array:
    # The operator serves any NumPy-like array, and has no Python code in the way.
    if a.dtype == dtype == b.dtype and not is_half(dtype):
        return a @ b
    working = numpy.result_type(a.dtype, b.dtype)
    if is_half(working):  # NumPy has no fast product of halves, and float32 is more exact
        working = numpy.dtype(numpy.float32)
    product = a.astype(working, copy=False) @ b.astype(working, copy=False)
    return product.astype(dtype, copy=False)
