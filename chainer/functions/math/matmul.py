"""Matrix products."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from chainer import functions
from chainer.core.autograd.variable import Variable
from chainer.core.typing import (
    Array,
    ArrayLike,
    Arrays,
    DTypeLike,
    Indexes,
    Shape,
    VariableLike,
    Variables,
)
from chainer.core.utils import type_check
from chainer.functions._matrix_products import as_rows, matrix_product
from chainer.functions.math._operand import check_operand
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_kinds
from chainer.functions.rules.batching import with_rank


def _matmul(
    a: Array, b: Array, transa: bool = False, transb: bool = False, transout: bool = False
) -> Array:
    """Multiplies vectors or stacks of matrices; packages of release 7 call it by this name.

    Args:
        a: Vector or matrices on the left.
        b: Vector or matrices on the right.
        transa: Whether to transpose the matrices on the left.
        transb: Whether to transpose the matrices on the right.
        transout: Whether to transpose the result.
    """
    if transa and a.ndim > 1:
        a = a.swapaxes(-1, -2)
    if transb and b.ndim > 1:
        b = b.swapaxes(-1, -2)
    y = a @ b
    return y.swapaxes(-1, -2) if transout and y.ndim > 1 else y


def _get_check_index(trans: bool, right: bool, row_idx: int = 0, col_idx: int = 1) -> int:
    """Returns the axis of an operand that a product sums over; for type checks of packages.

    Args:
        trans: Whether the operand is transposed.
        right: Whether the operand is on the right.
        row_idx: Axis of the rows.
        col_idx: Axis of the columns.
    """
    return col_idx if trans == right else row_idx


class MatMul(ExpressionFunction):
    """Matrix product of two arrays, or of two stacks of matrices."""

    argument_names = ("a", "b")

    is_multilinear = True
    label = "MatMul"
    type_check_key = ("transa", "transb")
    retained_inputs = (0, 1)

    def __init__(
        self,
        transa: bool = False,
        transb: bool = False,
        transc: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        self.transa = transa
        self.transb = transb
        self.transc = transc
        self.dtype = dtype

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        a, b = expect_kinds(in_types, "ff")
        type_check.expect(a.ndim >= 1, b.ndim >= 1)
        a_axis = 0 if type_check.eval(a.ndim) == 1 else -2 if self.transa else -1
        b_axis = 0 if type_check.eval(b.ndim) == 1 else -1 if self.transb else -2
        type_check.expect(a.shape[a_axis] == b.shape[b_axis])
        # The matrices of both stacks are broadcast; their own axes were checked above.
        a_stack, b_stack = type_check.eval(a.shape)[:-2], type_check.eval(b.shape)[:-2]
        try:
            numpy.broadcast_shapes(a_stack, b_stack)
        except ValueError:
            type_check.expect(a.shape[:-2] == b.shape[:-2])

    def _promote(self, a: Array, b: Array) -> tuple[Any, Any, bool, bool]:
        """Promotes vectors to matrices: the first to a row, the second to a column."""
        transa, transb = self.transa, self.transb
        if a.ndim == 1:
            a, transa = a.reshape((1, a.shape[0])), False
        if b.ndim == 1:
            b, transb = b.reshape((b.shape[0], 1)), False
        return a, b, transa, transb

    def _out_shape(self, a: Array, b: Array, shape: Shape) -> Shape:
        """Returns the shape of the output, given the shape of the product of promoted operands."""
        if a.ndim == 1:
            shape = (*shape[:-2], shape[-1])
        return shape[:-1] if b.ndim == 1 else shape

    def _promoted_shape(self, a: Array, b: Array, gy: Array) -> Shape:
        """Returns the shape of the product of promoted operands; the inverse of _out_shape."""
        shape = gy.shape
        if b.ndim == 1:
            shape = (*shape, 1)
        return (*shape[:-1], 1, shape[-1]) if a.ndim == 1 else shape

    def forward(self, inputs: Arrays) -> Arrays:
        a, b = inputs
        y = matrix_product(self.xp, *self._promote(a, b))
        y = _shaped(y, self._out_shape(a, b, y.shape))
        # Return a view. The next function decides whether to copy it.
        if self.transc:
            y = y.swapaxes(-1, -2)
        return (y if self.dtype is None else y.astype(self.dtype, copy=False),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # Vectors become matrices, so that the axes in front are stacks of them.
        (a, b), (a_here, b_here) = inputs, are_batched
        a_rank, b_rank = a.ndim - a_here, b.ndim - b_here
        if a_rank == 1:
            a = a.reshape((*a.shape[:-1], 1, a.shape[-1]))
        if b_rank == 1:
            b = b.reshape((*b.shape, 1))
        rank = max(a_rank, b_rank, 2)
        a, b = with_rank(a, a_here, rank), with_rank(b, b_here, rank)
        transa, transb = self.transa and a_rank > 1, self.transb and b_rank > 1
        (y,) = MatMul(transa, transb, dtype=self.dtype).apply((a, b))
        shape = y.shape[:-2]
        if a_rank > 1:
            shape = (*shape, y.shape[-2])
        if b_rank > 1:
            shape = (*shape, y.shape[-1])
        y = y.reshape(shape)
        return (functions.swapaxes(y, -1, -2) if self.transc else y,)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        first, second, gy = values
        a, b, transa, transb = self._promote(first, second)
        if self.transc:
            gy = ops.swapaxes(gy, -1, -2)
        gy = _shaped(gy, self._promoted_shape(first, second, gy))
        gxs: list[Any] = []
        for i in targets:
            if i == 0:
                gx = (
                    ops.matmul(b, gy, transb, True)
                    if transa
                    else ops.matmul(gy, b, False, not transb)
                )
                gxs.append(_as_gradient(ops, ops.sum_to(gx, a.shape), first))
            else:
                left, right = a, gy
                if b.ndim == 2 and a.ndim > 2 and not transa:
                    # One product of long matrices instead of a stack of products, summed up.
                    left, right = as_rows(a), as_rows(gy)
                if transb:
                    gx = ops.matmul(right, left, True, transa)
                else:
                    gx = ops.matmul(left, right, not transa, False)
                gxs.append(_as_gradient(ops, ops.sum_to(gx, b.shape), second))
        return tuple(gxs)


class MatMulVarVar(MatMul):
    """The product that ``a @ b`` makes."""

    label = "_ @ _"


class BatchMatMul(MatMul):
    """Matrix products of two stacks of matrices; two-dimensional arrays are stacks of columns."""

    label = "BatchMatMul"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        a, b = expect_kinds(in_types, "ff")
        type_check.expect(a.ndim >= 2, a.ndim <= 3, b.ndim >= 2, b.ndim <= 3)
        a_columns = type_check.eval(a.ndim) == 2
        b_columns = type_check.eval(b.ndim) == 2
        inner: Any = None  # the length 1 of columns
        if not a_columns or self.transa:
            inner = a.shape[1] if a_columns or self.transa else a.shape[2]
        if b_columns and self.transb:
            type_check.expect(inner is None or inner == 1)
        else:
            b_inner = b.shape[1] if b_columns or not self.transb else b.shape[2]
            type_check.expect(b_inner == 1 if inner is None else inner == b_inner)
        sizes = {type_check.eval(a.shape)[0], type_check.eval(b.shape)[0]}
        if 1 not in sizes:
            type_check.expect(a.shape[0] == b.shape[0])

    def _promote(self, a: Array, b: Array) -> tuple[Any, Any, bool, bool]:
        if a.ndim == 2:
            a = a.reshape((*a.shape, 1))
        if b.ndim == 2:
            b = b.reshape((*b.shape, 1))
        return a, b, self.transa, self.transb

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        pairs = zip(inputs, are_batched, strict=True)
        taken = [x.reshape((*x.shape, 1)) if x.ndim - b == 2 else x for x, b in pairs]
        node = MatMul(self.transa, self.transb, self.transc, self.dtype)
        return node.batched(tuple(taken), are_batched, size)

    def _out_shape(self, a: Array, b: Array, shape: Shape) -> Shape:
        return shape

    def _promoted_shape(self, a: Array, b: Array, gy: Array) -> Shape:
        return gy.shape


def _as_gradient(ops: Any, gx: Array, x: Array) -> Any:
    gx = _shaped(gx, x.shape)
    return gx if gx.dtype == x.dtype else ops.cast(gx, x.dtype)


def _shaped(a: Array, shape: Shape) -> Any:
    # Reshaping to the same shape takes as long as adding up small arrays.
    return a if a.shape == shape else a.reshape(shape)


def matmul(
    a: VariableLike, b: VariableLike, transa: bool = False, transb: bool = False
) -> Variable:
    """Computes the matrix multiplication of two arrays.

    Args:
        a (:class:`~chainer.Variable` or array): The left operand of the matrix multiplication. If
            ``a`` and ``b`` are both 1-D arrays, the result is the dot product of the vectors; of
            2-D arrays it is the matrix product. Arrays of more dimensions are treated as stacks of
            matrices residing in the last two; the stacks are broadcast.
        b (:class:`~chainer.Variable` or array): The right operand; its array is treated as a matrix
            in the same way as ``a``.
        transa (bool): If True, each matrix in ``a`` will be transposed. Nothing is done if
            ``a.ndim == 1``.
        transb (bool): If True, each matrix in ``b`` will be transposed. Nothing is done if
            ``b.ndim == 1``.

    Returns:
        ~chainer.Variable: The result of the matrix multiplication.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> a = np.array([[1, 0], [0, 1]], np.float32)
        >>> b = np.array([[4, 1], [2, 2]], np.float32)
        >>> F.matmul(a, b).array
        array([[4., 1.],
               [2., 2.]], dtype=float32)
    """
    return MatMul(transa, transb).apply((a, b))[0]


def _as_constant(value: Any, x: VariableLike) -> Any:
    """Returns an array operand in the dtype of the Variable, as the other operators have it."""
    check_operand(value)
    dtype = getattr(value, "dtype", x.dtype)
    return value if dtype == x.dtype or not value.ndim else value.astype(x.dtype)


def matmul_operator(self: VariableLike, rhs: VariableLike | ArrayLike) -> Variable:
    """``self @ rhs``"""
    if not isinstance(rhs, Variable):
        rhs = _as_constant(rhs, self)
    return MatMulVarVar().apply((self, rhs))[0]


def reflected_matmul_operator(self: VariableLike, lhs: VariableLike | ArrayLike) -> Variable:
    """``lhs @ self``"""
    if not isinstance(lhs, Variable):
        lhs = _as_constant(lhs, self)
    return MatMulVarVar().apply((lhs, self))[0]


def batch_matmul(
    a: VariableLike, b: VariableLike, transa: bool = False, transb: bool = False
) -> Variable:
    """Computes the batch matrix multiplications of two sets of arrays.

    .. deprecated:: v3.0.0
       Use :func:`~chainer.functions.matmul` instead.

    Args:
        a (:class:`~chainer.Variable` or array): The left operand. A 2-D array of shape ``(B, N)``
            is considered as ``B`` :math:`N \\times 1` matrices, a 3-D array of shape
            ``(B, M, N)`` as ``B`` :math:`M \\times N` matrices.
        b (:class:`~chainer.Variable` or array): The right operand, treated in the same way.
        transa (bool): If True, transpose each matrix in ``a``.
        transb (bool): If True, transpose each matrix in ``b``.

    Returns:
        ~chainer.Variable: The result of the batch matrix multiplications as a 3-D array.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> a, b = np.ones((5, 2, 3), np.float32), np.ones((5, 3, 4), np.float32)
        >>> F.batch_matmul(a, b).shape
        (5, 2, 4)
    """
    warnings.warn(
        "batch_matmul is deprecated. Use matmul instead.", DeprecationWarning, stacklevel=2
    )
    return BatchMatMul(transa, transb).apply((a, b))[0]
