"""Determinant of matrices."""

from __future__ import annotations

import numpy

from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.functions.array.reshape import reshape
from chainer.functions.rules import Ops, UnaryFunction, Value


class BatchDet(UnaryFunction):
    """Determinant of each matrix of a batch."""

    label = "det"
    type_check_key = ()
    retained_inputs = (0,)
    retained_outputs = (0,)
    batch_inputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        a_type = in_types[0]
        type_check.expect(a_type.dtype.kind == "f", a_type.ndim == 3)
        type_check.expect(a_type.shape[-1] == a_type.shape[-2])

    def forward(self, inputs: Arrays) -> Arrays:
        (a,) = inputs
        half = a.dtype == numpy.float16  # LAPACK has none
        xp = self.xp
        y = xp.linalg.det(a.astype(numpy.float32) if half else a).astype(a.dtype, copy=False)
        # LAPACK takes a NaN in the first column for zero.
        unknown = xp.isnan(a).any(axis=(1, 2))
        return (xp.where(unknown, xp.full((), numpy.nan, a.dtype), y),)

    def gradient(self, ops: Ops, a: Value, y: Value, gy: Value) -> Value:
        try:
            inverse = ops.batch_inv(a)
        except ValueError as error:
            raise ValueError(
                "Input has singular matrices; the gradient of det is computed for others only."
            ) from error
        return (y * gy).reshape((len(a), 1, 1)) * inverse.transpose((0, 2, 1))


def batch_det(a: VariableLike) -> Variable:
    """Computes the determinant of a batch of square matrices.

    Args:
        a (Variable or array): Matrices of shape ``(B, n, n)``, floating point.

    Returns:
        Variable: Determinants of shape ``(B,)``.

    Raises:
        InvalidType: If dtype or shape does not fit.
        ValueError: In backward, if a matrix is singular; on a GPU in debug mode only.

    Example:
        >>> F.batch_det(np.array([[[2., 0.], [0., 4.]]]))
        variable([8.])
    """
    return BatchDet().apply((a,))[0]


def det(a: VariableLike) -> Variable:
    """Computes the determinant of a single square matrix.

    Args:
        a (Variable or array): Matrix of shape ``(n, n)``, floating point. Further axes of length 1,
            as in ``(n, n, 1, 1)``, are ignored.

    Returns:
        Variable: The determinant, a scalar.

    Raises:
        InvalidType: If dtype or shape does not fit.
        ValueError: In backward, if the matrix is singular; on a GPU in debug mode only.

    Example:
        >>> F.det(np.array([[2., 0.], [0., 4.]]))
        variable(8.)
    """
    a = as_variable(a)
    type_check.expect(type_check.make_variable(a.ndim, "a.ndim") >= 2)
    # By the first two axes: pointwise convolutions have weights of shape (n, n, 1, 1).
    return reshape(batch_det(reshape(a, (1, len(a), a.shape[1]))), ())
