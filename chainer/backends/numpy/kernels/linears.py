"""Reference kernel of the affine transformation."""

from __future__ import annotations

from chainer.backends.compute_dtypes import compute_dtype
from chainer.core.arrays.extended_dtypes import HALVES
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DType


class LinearKernel(ReferenceKernel):
    """Affine transformation by matrix products."""

    # The operator is the fastest way to a product, as no Python code is in between. So each method
    # looks at the dtypes by itself.

    def forward(self, x: Array, W: Array, b: Array) -> Array:
        dtype = x.dtype
        if W.dtype == dtype and dtype.char not in HALVES:
            y = x @ W.T
        else:
            y = _wide_product(x, W.T, dtype)
        if b is not None:
            y += b
        return y

    def backward_data(self, gy: Array, W: Array) -> Array:
        dtype = gy.dtype
        if W.dtype == dtype and dtype.char not in HALVES:
            return gy @ W
        return _wide_product(gy, W, dtype)

    def backward_weight(self, x: Array, gy: Array, dtype: DType) -> Array:
        if gy.dtype == dtype == x.dtype and dtype.char not in HALVES:
            return gy.T @ x
        return _wide_product(gy.T, x, dtype)


def _wide_product(a: Array, b: Array, dtype: DType) -> Array:
    """Returns a product of a dtype, computed in a dtype whose sums are exact enough."""
    wide = compute_dtype(a.dtype, b.dtype)
    product = a.astype(wide, copy=False) @ b.astype(wide, copy=False)
    return product.astype(dtype, copy=False)
