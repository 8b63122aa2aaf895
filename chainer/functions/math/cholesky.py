"""Cholesky factor of a matrix."""

from __future__ import annotations

from chainer.backends.operations.linear_algebra import cholesky as operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.rules import Ops, UnaryFunction, Value


class Cholesky(UnaryFunction):
    """Cholesky factor of a matrix."""

    type_check_key = ()
    ndim = 2
    retained_outputs = (0,)

    @property
    def label(self) -> str:
        return "cholesky"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.argname(in_types, ("a",))
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim == self.ndim)

    def forward(self, inputs: Arrays) -> Arrays:
        return (operation.select(*inputs).forward(*inputs),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        return BatchCholesky().apply(inputs)

    def gradient(self, ops: Ops, *values: Value) -> Value:
        # Murray, 2016 (https://arxiv.org/abs/1602.07527), equation 10.
        y, gy = values
        size = y.shape[-1]
        lower = self.xp.tri(size, dtype=y.dtype) - self.xp.eye(size, dtype=y.dtype) * 0.5
        inverse = ops.inv(y) if self.ndim == 2 else ops.batch_inv(y)
        middle = ops.matmul(y, gy, transa=True) * lower
        gradient = ops.matmul(ops.matmul(inverse, middle, transa=True), inverse)
        return (gradient + ops.swapaxes(gradient, -1, -2)) * 0.5


class BatchCholesky(Cholesky):
    """Cholesky factor of each matrix of a batch."""

    batch_inputs = (0,)
    ndim = 3

    batched = UnaryFunction.batched


def cholesky(a: VariableLike) -> Variable:
    """Cholesky decomposition of a matrix.

    Args:
        a (:class:`~chainer.Variable` or array): Symmetric positive definite matrix of shape ``(n,
            n)``, floating point. Only the lower triangle is read. The gradient is computed as for
            a symmetric matrix.

    Returns:
        ~chainer.Variable: Lower triangular matrix ``L`` with ``L @ L.T == a``, of the shape and
        dtype of ``a``.

    Raises:
        InvalidType: If the dtype or the number of dimensions does not fit.
        numpy.linalg.LinAlgError: If the matrix is not square or not positive definite. On a GPU
            that is checked in debug mode only.

    Example:
        >>> F.cholesky(np.array([[2, 0.5], [0.5, 1]])).array.round(6)
        array([[1.414214, 0.      ],
               [0.353553, 0.935414]])
    """
    return Cholesky().apply((a,))[0]
