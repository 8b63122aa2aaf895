"""Inverse of matrices."""

from __future__ import annotations

import numpy

from chainer.backends import operations
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.documentation import SharedSections
from chainer.functions.rules import Ops, UnaryFunction, Value

_inverse_sections = SharedSections(
    """
    Args:
        a (Variable or array): $matrices, floating point.

    Returns:
        Variable: Output of the same shape and dtype.

    Raises:
        InvalidType: If dtype or shape does not fit.
        ValueError: If a matrix is singular; on a GPU in debug mode only, as it would have to wait
            for the result (:func:`chainer.set_debug`).
    """
)


class BatchInv(UnaryFunction):
    """Inverse of each matrix of a batch."""

    argument_names = ("a",)

    type_check_key = ()
    # The derivative is a formula of the inverse, so that nothing is inverted twice.
    retained_outputs = (0,)
    batch_inputs = (0,)
    ndim = 3

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        a_type = in_types[0]
        type_check.expect(a_type.dtype.kind == "f", a_type.ndim == self.ndim)
        type_check.expect(a_type.shape[self.ndim - 2] == a_type.shape[self.ndim - 1])

    def forward(self, inputs: Arrays) -> Arrays:
        (a,) = inputs
        half = a.dtype.itemsize == 2  # LAPACK has none
        wide = a.astype(numpy.float32) if half else a
        y = operations.inverse.select(wide).forward(wide)
        return (y.astype(a.dtype) if half else y,)

    def gradient(self, ops: Ops, y: Value, gy: Value) -> Value:
        yt = y.transpose((0, 2, 1) if y.ndim == 3 else (1, 0))
        return -ops.matmul(ops.matmul(yt, gy), yt)


class Inv(BatchInv):
    """Inverse of a matrix."""

    batch_inputs = ()
    ndim = 2

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return BatchInv().apply(inputs)


@_inverse_sections(matrices="Matrix of shape ``(n, n)``")
def inv(a: VariableLike) -> Variable:
    """Computes the inverse of a square matrix.

    Example:
        >>> F.inv(np.array([[2., 0.], [0., 4.]]))
        variable([[0.5 , 0.  ],
                  [0.  , 0.25]])
    """
    return Inv().apply((a,))[0]


@_inverse_sections(matrices="Matrices of shape ``(B, n, n)``")
def batch_inv(a: VariableLike) -> Variable:
    """Computes the inverse of a batch of square matrices.

    Example:
        >>> F.batch_inv(np.array([[[2., 0.], [0., 4.]]]))
        variable([[[0.5 , 0.  ],
                   [0.  , 0.25]]])
    """
    return BatchInv().apply((a,))[0]
