"""Products of sparse and dense matrices."""

from __future__ import annotations

from typing import Any

from chainer.backends.operations.sparse_products import coo_product
from chainer.core.arrays.lookup import is_array
from chainer.core.autograd.sparse import CooMatrix, Order
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Arrays, DType, DTypeLike, Indexes, Shape, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values


class _CooFunction(ExpressionFunction):
    """Base of the two classes below: a sparse matrix without its elements, and orientations.

    With the sparse matrix ``A`` and a dense one ``B``, transposed if ``transa`` and ``transb``, the
    product is ``C = A @ B``, transposed if ``transc``.
    """

    retained_inputs = (0, 1)

    def __init__(
        self,
        sp_row: Array,
        sp_col: Array,
        sp_shape: Shape,
        sp_order: Order = "other",
        transa: bool = False,
        transb: bool = False,
        transc: bool = False,
        dtype: DTypeLike = None,
    ) -> None:
        if sp_row.ndim != sp_col.ndim:
            raise ValueError(
                f"ndim of sp_row and sp_col must be the same, got {sp_row.ndim} and {sp_col.ndim}"
            )
        self.sp_row = sp_row
        self.sp_col = sp_col
        self.sp_shape = sp_shape
        self.sp_order: Order = sp_order
        self.transa = transa
        self.transb = transb
        self.transc = transc
        self.dtype = dtype

    def _oriented(self) -> tuple[Array, Array, int]:
        """Returns rows and columns of the elements, and the number of rows, after ``transa``."""
        if self.transa:
            return self.sp_col, self.sp_row, self.sp_shape[1]
        return self.sp_row, self.sp_col, self.sp_shape[0]

    def _product(self, sp: Any, dn: Any, dtype: DType, **orientation: bool) -> Any:
        """Returns a product with the same sparse matrix, of arrays or Variables."""
        return _apply(CooMatMul, self, (sp, dn), dtype, **orientation)

    def _sampled(self, a: Array, b: Array, dtype: DType, **orientation: bool) -> Any:
        """Returns elements of a product of dense matrices, of arrays or Variables."""
        return _apply(CooMatMulGradSP, self, (a, b), dtype, **orientation)


class CooMatMul(_CooFunction):
    """Product of a sparse matrix and a dense one; the inputs are ``data`` and the dense matrix.

    Args:
        sp_row (array): Row of each element of the sparse matrix.
        sp_col (array): Column of each element.
        sp_shape (tuple of int): Shape of the sparse matrix.
        sp_order ('C', 'F' or 'other'): Order of the elements, a hint.
        transa (bool): Whether the sparse matrix is transposed.
        transb (bool): Whether the dense matrix is transposed.
        transc (bool): Whether the product is transposed.
        dtype: Dtype of the product; by default that to which the inputs are promoted.
    """

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("sp", "dn"))
        sp_type, dn_type = in_types
        type_check.expect(
            sp_type.dtype.kind == "f",
            dn_type.dtype.kind == "f",
            dn_type.ndim >= 2,
            dn_type.ndim <= 3,
        )
        type_check.expect(sp_type.ndim == dn_type.ndim - 1, sp_type.shape == self.sp_row.shape)
        inner = self.sp_shape[0 if self.transa else 1]
        type_check.expect(dn_type.shape[-1 if self.transb else -2] == inner)
        if self.sp_row.ndim == 2:
            type_check.expect(dn_type.shape[0] == self.sp_row.shape[0])

    def forward(self, inputs: Arrays) -> Arrays:
        sp, dn = inputs
        row, col, rows = self._oriented()
        if self.transb:
            dn = dn.swapaxes(-1, -2)
        y = coo_product.select(dn).multiply(sp, row, col, rows, dn)
        if self.transc:
            y = y.swapaxes(-1, -2)
        return (y if self.dtype is None else y.astype(self.dtype, copy=False),)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        sp, dn, gy = values
        transa, transb, transc = self.transa, self.transb, self.transc
        by_input = {
            0: lambda: self._sampled(gy, dn, sp.dtype, transa=transa, transb=transb, transc=transc),
            1: lambda: self._product(
                sp, gy, dn.dtype, transa=not transa, transb=transc, transc=transb
            ),
        }
        return tuple([by_input[i]() for i in targets])


class CooMatMulGradSP(_CooFunction):
    """Gradient of such a product with respect to ``data``.

    The inputs are the gradient of the product and the dense matrix; the output has an element for
    each element of the sparse matrix, of their product.

    Takes the same arguments as :class:`CooMatMul`.
    """

    def forward(self, inputs: Arrays) -> Arrays:
        gy, dn = inputs
        row, col, _ = self._oriented()
        if self.transc:
            gy = gy.swapaxes(-1, -2)
        if self.transb:
            dn = dn.swapaxes(-1, -2)
        y = coo_product.select(gy).sample(row, col, gy, dn)
        return (y if self.dtype is None else y.astype(self.dtype, copy=False),)

    def gradients(self, ops: Ops, targets: Indexes, *values: Value) -> Values:
        gy, dn, gsp = values
        transa, transb, transc = self.transa, self.transb, self.transc
        by_input = {
            0: lambda: self._product(
                gsp, dn, gy.dtype, transa=transa, transb=transb, transc=transc
            ),
            1: lambda: self._product(
                gsp, gy, dn.dtype, transa=not transa, transb=transc, transc=transb
            ),
        }
        return tuple([by_input[i]() for i in targets])


def _apply(
    cls: type[_CooFunction], like: _CooFunction, inputs: Any, dtype: DType, **orientation: bool
) -> Any:
    node = cls(like.sp_row, like.sp_col, like.sp_shape, like.sp_order, **orientation, dtype=dtype)
    if isinstance(inputs[0], Variable):
        return node.apply(inputs)[0]
    return node.forward(inputs)[0]


def sparse_matmul(
    a: CooMatrix | VariableLike,
    b: CooMatrix | VariableLike,
    transa: bool = False,
    transb: bool = False,
) -> Variable:
    """Product of a sparse and a dense matrix, or of two batches of them.

    One of ``a`` and ``b`` is sparse, the other dense. It is differentiable with respect to the
    dense matrix and to the elements of the sparse one, ``CooMatrix.data``.

    Args:
        a (CooMatrix, :class:`~chainer.Variable` or array): The left operand. A dense one is
            floating point, with two dimensions, or three if the sparse one is a batch.
        b (CooMatrix, :class:`~chainer.Variable` or array): The right operand.
        transa (bool): If True, each matrix in ``a`` is transposed.
        transb (bool): If True, each matrix in ``b`` is transposed.

    Returns:
        ~chainer.Variable: The dense product. Its dtype is that to which both dtypes are promoted.

    Raises:
        ValueError: If not exactly one operand is sparse, or an element of it is outside of its
            shape.
        InvalidType: If dtypes or shapes do not fit. There is no broadcasting.

    .. seealso:: :class:`chainer.utils.CooMatrix`, :func:`chainer.utils.to_coo`

    Example:
        >>> a = chainer.utils.to_coo(np.array([[1., 0., 2.], [0., 0., 3.]]))
        >>> F.sparse_matmul(a, np.array([[1., 2.], [3., 4.], [5., 6.]]))
        variable([[11., 14.],
                  [15., 18.]])
    """
    if isinstance(a, CooMatrix) and _is_dense(b):
        node = CooMatMul(a.row, a.col, a.shape, a.order, transa, transb, transc=False)
        return node.apply((a.data, b))[0]
    if isinstance(b, CooMatrix) and _is_dense(a):
        # With the sparse matrix on the left: the transpose of b.T @ a.T.
        node = CooMatMul(b.row, b.col, b.shape, b.order, not transb, not transa, transc=True)
        return node.apply((b.data, a))[0]
    raise ValueError(
        "This combination of type of inputs is not supported.\n"
        f"    a: {type(a)}\n    b: {type(b)}\n"
    )


def _is_dense(operand: Any) -> bool:
    return isinstance(operand, Variable) or is_array(operand)
