"""Reference kernel of the affine transformation."""

from __future__ import annotations

from chainer.backends.compute_dtypes import compute_dtype
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, DType


class LinearKernel(ReferenceKernel):
    """Affine transformation by matrix products."""

    def forward(self, x: Array, W: Array, b: Array) -> Array:
        y = _product(x, W.T, x.dtype)
        if b is not None:
            y += b
        return y

    def backward_data(self, gy: Array, W: Array) -> Array:
        return _product(gy, W, gy.dtype)

    def backward_weight(self, x: Array, gy: Array, dtype: DType) -> Array:
        return _product(gy.T, x, dtype)


def _product(a: Array, b: Array, dtype: DType) -> Array:
    # The operator is the fastest way to a product, as no Python code is in between.
    if a.dtype == dtype == b.dtype and dtype.char not in "eE":  # as is_half(), without the call
        return a @ b
    wide = compute_dtype(a.dtype, b.dtype)
    product = a.astype(wide, copy=False) @ b.astype(wide, copy=False)
    return product.astype(dtype, copy=False)
