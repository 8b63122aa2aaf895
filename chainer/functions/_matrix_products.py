"""Products of stacks of matrices, on raw arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy

from chainer.core.arrays.extended_dtypes import for_products, is_half
from chainer.core.typing import Array, ArrayModule


def as_rows(a: Array) -> Any:
    """Returns a stack of matrices as one long matrix; an array or a Variable."""
    # A length of -1 is undecided where there are no elements.
    return a.reshape((-1 if a.size else math.prod(a.shape[:-1]), a.shape[-1]))


def matrix_product(
    xp: ArrayModule, a: Array, b: Array, transa: bool = False, transb: bool = False
) -> Array:
    """Multiplies two stacks of matrices, of two or more dimensions.

    Args:
        xp: Their array namespace.
        a: The matrices on the left.
        b: The matrices on the right.
        transa: Whether those on the left are transposed.
        transb: Whether those on the right are transposed.

    Returns:
        Array of the dtype that both are promoted to.
    """
    if transa:
        a = a.swapaxes(-1, -2)
    if transb:
        b = b.swapaxes(-1, -2)
    if a.ndim == b.ndim == 2 and a.dtype == b.dtype and a.dtype.char in "fd":
        # The method dot takes half a microsecond less than the operator; not all arrays have it.
        return a.dot(b) if hasattr(a, "dot") else a @ b
    return _general_product(xp, a, b, transa)


def _general_product(xp: ArrayModule, a: Array, b: Array, transa: bool) -> Array:
    """Multiplies matrices that are already transposed, of any dtypes and numbers of dimensions.

    Args:
        xp: Array namespace.
        a: The matrices on the left.
        b: The matrices on the right.
        transa: Whether those on the left were transposed, so that rows are not contiguous.
    """
    if xp is numpy and a.dtype == b.dtype and is_half(a.dtype):
        # BLAS has no half precision, and NumPy's own loops are many times slower than two casts.
        return matrix_product(xp, a.astype("f"), b.astype("f")).astype(a.dtype)
    dtype = a.dtype if a.dtype == b.dtype else numpy.result_type(a.dtype, b.dtype)
    if b.ndim == 2 and a.ndim > 2 and not transa:
        # One product of a long matrix is faster than a stack of products.
        product = xp.matmul(as_rows(a), b).reshape((*a.shape[:-1], b.shape[-1]))
    elif b.ndim > 2 and a.ndim == b.ndim and not transa and _is_repeated(b):
        # The same matrix for the whole stack, such as weights in chainer.per_sample_grad.
        product = xp.matmul(as_rows(a), b[(0,) * (b.ndim - 2)])
        product = product.reshape((*a.shape[:-1], b.shape[-1]))
    elif a.ndim > 2 and a.shape[-1] == 1:
        # A stack of outer products, such as gradients of single samples: one loop for all.
        product = a * b
    elif a.ndim > 2 or b.ndim > 2:
        product = xp.matmul(for_products(a), for_products(b))
    else:
        product = xp.matmul(a, b)
    return product if product.dtype == dtype else product.astype(dtype)


def _is_repeated(a: Array) -> bool:
    """Returns whether a stack of matrices is one matrix, repeated without a copy."""
    stack = a.ndim - 2
    strides = getattr(a, "strides", None)  # arrays of some libraries have none
    if not isinstance(strides, tuple) or not a.size or max(a.shape[:stack]) == 1:
        return False
    return all([n == 1 or step == 0 for n, step in zip(a.shape[:stack], strides)])
