"""Reference kernel of the affine transformation."""

from __future__ import annotations

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.core.arrays.extended_dtypes import HALVES
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DType

_ndarray = numpy.ndarray


class LinearKernel(ReferenceKernel):
    """Affine transformation by matrix products."""

    # The operator is the fastest way to a product, as no Python code is in between. So each method
    # looks at the dtypes by itself. The operator leaves a product of a column and a row to a loop
    # that takes 3 to 6 times as long as BLAS, which ``dot`` calls for it, too. Nothing is summed
    # there, so that both give the same bits.

    def forward(self, x: Array, W: Array, b: Array) -> Array:
        dtype = x.dtype
        if W.dtype == dtype and dtype.char not in HALVES:
            is_outer = x.shape[1] == 1 and x.__class__ is _ndarray
            y = x.dot(W.T) if is_outer else x @ W.T
        else:
            y = _wide_product(x, W.T, dtype)
        if b is not None:
            y += b
        return y

    def backward_data(self, gy: Array, W: Array) -> Array:
        dtype = gy.dtype
        if W.dtype == dtype and dtype.char not in HALVES:
            if gy.shape[1] == 1 and gy.__class__ is _ndarray:
                return gy.dot(W)
            return gy @ W
        return _wide_product(gy, W, dtype)

    def backward_weight(self, x: Array, gy: Array, dtype: DType) -> Array:
        if gy.dtype == dtype == x.dtype and dtype.char not in HALVES:
            if len(x) == 1 and x.__class__ is _ndarray:
                return gy.T.dot(x)
            return gy.T @ x
        return _wide_product(gy.T, x, dtype)


def _wide_product(a: Array, b: Array, dtype: DType) -> Array:
    """Returns a product of a dtype, computed in a dtype whose sums are exact enough."""
    wide = compute_dtype(a.dtype, b.dtype)
    product = a.astype(wide, copy=False) @ b.astype(wide, copy=False)
    return product.astype(dtype, copy=False)
