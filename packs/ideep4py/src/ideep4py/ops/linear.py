"""Matrix products: ``matmul`` with any transposes, and the fully connected layer with its
gradients.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.reorder import densified
from ideep4py._kernels.gemm import sgemm
from ideep4py._kernels.reduction import sum_axes
from ideep4py._kernels.transposed import affine, times_transposed
from ideep4py._mdarray import mdarray, readable_data, wrap
from ideep4py.ops._inputs import Array, check_layout, check_vector, data_of

if TYPE_CHECKING:
    from ideep4py._typing import AnyArray


def _matrix(x: AnyArray, name: str) -> tuple[int, int, Any]:
    """Rows, columns and pointer of an array as a matrix: all axes but the first are joined."""
    layout, pointer = data_of(x, name)
    # dnnl_sgemm takes a distance of rows, which a matrix in blocks does not have.
    layout, pointer = densified((layout, pointer))
    return (*_rows_and_columns(layout, name), pointer)


def _rows_and_columns(layout: L.Layout, name: str) -> tuple[int, int]:
    """Rows and columns of a float32 array as a matrix."""
    shape = layout.shape
    if layout.data_type != C.F32:
        raise TypeError(f"{name} must be of dtype float32, got {layout.dtype}")
    if len(shape) < 2:
        raise ValueError(f"{name} must have at least 2 axes, got shape {shape}")
    return shape[0], math.prod(shape[1:])


def matmul(
    a: Array,
    b: Array,
    *,
    trans_a: bool = False,
    trans_b: bool = False,
    alpha: float = 1.0,
    beta: float = 0.0,
    out: mdarray | None = None,
) -> mdarray:
    """``alpha * op(a) @ op(b) + beta * out``, where ``op`` transposes on request.

    Args:
        a: matrix (m, k); (k, m) when ``trans_a``. Further axes count as columns.
        b: matrix (k, n); (n, k) when ``trans_b``.
        alpha: factor of the product.
        beta: factor of what is in ``out``.
        out: matrix (m, n) to overwrite; a new one when None. Reordered in place if it is in
            blocks.

    Returns:
        Matrix (m, n), dense; ``out`` itself when given.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    rows_a, columns_a, pa = _matrix(a, "a")
    rows_b, columns_b, pb = _matrix(b, "b")
    m, k = (columns_a, rows_a) if trans_a else (rows_a, columns_a)
    k_b, n = (columns_b, rows_b) if trans_b else (rows_b, columns_b)
    if k != k_b:
        raise ValueError(f"a and b do not fit: op(a) is ({m}, {k}), op(b) is ({k_b}, {n})")
    if out is None:
        if beta:
            raise ValueError(f"beta={beta} needs out")
        layout = L.dense((m, n))
        out = wrap(layout, allocate(layout.nbytes))
    else:
        if not isinstance(out, mdarray) or out.shape != (m, n) or out.dtype.name != "float32":
            raise ValueError(f"out must be a float32 mdarray of shape ({m}, {n})")
        # Makes out dense, in place: the product writes rows.
        out._view()
    target = out._data[1]
    if trans_b and not trans_a and alpha == 1.0 and not beta:
        times_transposed(pa, pb, target, m, n, k)
    else:
        sgemm(pa, pb, target, m, n, k, trans_a=trans_a, trans_b=trans_b, alpha=alpha, beta=beta)
    return out


def _result(out: Array | None, shape: tuple[int, ...]) -> tuple[Array, Any]:
    """The array of a result and its pointer: ``out``, or a new mdarray."""
    if out is None:
        layout = L.dense(shape)
        pointer = allocate(layout.nbytes)
        return wrap(layout, pointer), pointer
    if isinstance(out, mdarray):
        # Makes out dense, in place: products write rows.
        out._view()
        writable = True
    else:
        writable = isinstance(out, np.ndarray) and out.flags.carray
    if not writable or out.shape != shape or out.dtype.name != "float32":
        raise ValueError(
            f"out must be a writable C-contiguous float32 array of shape {shape}, got "
            f"{getattr(out, 'dtype', type(out))} {getattr(out, 'shape', '')}"
        )
    return out, data_of(out, "out")[1]


def linear(x: Array, W: Array, b: Array | None = None, *, out: Array | None = None) -> Array:
    """``x @ W.T + b``.

    Args:
        x: input (N, I); further axes count as columns.
        W: weights (O, I); further axes count as columns.
        b: bias (O,), or None.
        out: array (N, O) to overwrite, which shares no memory with the others; a new mdarray when
            None.

    Returns:
        Array (N, O); ``out`` itself when given.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    # The usual case needs no calls for the arguments: _Affine looks at their layouts.
    data_x = x._data if type(x) is mdarray else readable_data(x, "x")
    data_w = W._data if type(W) is mdarray else readable_data(W, "W")
    if not (data_x[0].dense and data_w[0].dense):
        data_x, data_w = densified(data_x), densified(data_w)
    if b is None:
        found = runtime.plan(_Affine, data_x[0], data_w[0])
        bias = ()
    else:
        data_b = b._data if type(b) is mdarray else readable_data(b, "b")
        if not data_b[0].dense:
            data_b = densified(data_b)
        found = runtime.plan(_Affine, data_x[0], data_w[0], data_b[0])
        bias = (data_b[1],)
    layout = found.layout
    if out is None:
        pointer = allocate(layout.nbytes)
        y: Array = wrap(layout, pointer)
    else:
        y, pointer = _result(out, layout.shape)
    found.run(data_x[1], data_w[1], pointer, *bias)
    return y


class _Affine:
    """:func:`linear` of dense arrays in these layouts.

    All checks are made once for these layouts: that saves a third of the calls of a function.
    """

    __slots__ = ("layout", "run")

    def __init__(self, x: L.Layout, W: L.Layout, b: L.Layout | None = None) -> None:
        check_layout(x, "x")
        check_layout(W, "W")
        n, size = _rows_and_columns(x, "x")
        out_size, size_w = _rows_and_columns(W, "W")
        if size != size_w:
            raise ValueError(f"W must have {size} columns, as x has, got {size_w}")
        if b is not None:
            check_layout(b, "b")
            check_vector(b, "b", out_size)
        self.layout = L.dense((n, out_size))
        self.run = affine(n, out_size, size, b is not None)


def linear_backward_data(W: Array, gy: Array, *, out: Array | None = None) -> Array:
    """Gradient of :func:`linear` with respect to its input.

    Args:
        W: weights (O, I); further axes count as columns.
        gy: gradient of the output (N, O).
        out: array (N, I) to overwrite, which shares no memory with the others; a new mdarray when
            None.

    Returns:
        ``gy @ W``, of shape (N, I).
    """
    n, out_size, pg = _matrix(gy, "gy")
    rows, size, pw = _matrix(W, "W")
    if rows != out_size:
        raise ValueError(f"gy must have {rows} columns, the rows of W, got {out_size}")
    gx, pointer = _result(out, (n, size))
    sgemm(pg, pw, pointer, n, size, out_size)
    return gx


def linear_backward_weights(
    x: Array, gy: Array, *, bias: bool = False, out: Array | None = None
) -> tuple[Array, mdarray | None]:
    """Gradients of :func:`linear` with respect to its weights and bias.

    Args:
        x: input (N, I); further axes count as columns.
        gy: gradient of the output (N, O).
        bias: whether the gradient of the bias is wanted.
        out: array (O, I) to overwrite with the gradient of the weights, which shares no memory with
            the others; a new mdarray when None.

    Returns:
        ``gy.T @ x`` of shape (O, I), and the gradient of the bias (None unless ``bias``).
    """
    n, size, px = _matrix(x, "x")
    rows, out_size, pg = _matrix(gy, "gy")
    if rows != n:
        raise ValueError(f"gy must have {n} rows, as x has, got {rows}")
    gw, pointer = _result(out, (out_size, size))
    sgemm(pg, px, pointer, out_size, size, n, trans_a=True)
    if not bias:
        return gw, None
    # Further axes of gy count as columns: the sum is over rows of the matrix.
    gradient = L.dense((n, out_size)), pg
    return gw, wrap(*sum_axes(gradient, frozenset({0}), (out_size,)))


__all__ = ["linear", "linear_backward_data", "linear_backward_weights", "matmul"]
