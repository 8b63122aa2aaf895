"""Determinant of matrices."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.utils import type_check


class BatchDet(FunctionNode):
    """Determinant of each matrix of a batch."""

    type_check_key = ()

    @property
    def label(self) -> str:
        return "det"

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        a_type = in_types[0]
        type_check.expect(a_type.dtype.kind == "f", a_type.ndim == 3)
        type_check.expect(a_type.shape[-1] == a_type.shape[-2])

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.retain_inputs((0,))
        self.retain_outputs((0,))
        (a,) = inputs
        half = a.dtype == numpy.float16  # LAPACK has none
        y = self.xp.linalg.det(a.astype(numpy.float32) if half else a)
        return (y.astype(a.dtype, copy=False),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        from chainer.functions.array.broadcast import broadcast_to
        from chainer.functions.array.reshape import reshape
        from chainer.functions.array.transpose import transpose
        from chainer.functions.math.inv import batch_inv

        (a,) = self.get_retained_inputs()
        (y,) = self.get_retained_outputs()
        try:
            inverse = batch_inv(a)
        except ValueError as error:
            raise ValueError(
                "Input has singular matrices; the gradient of det is computed for others only."
            ) from error
        factor = broadcast_to(reshape(y * grad_outputs[0], (len(a), 1, 1)), a.shape)
        return (factor * transpose(inverse, (0, 2, 1)),)


def batch_det(a: Any) -> Variable:
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


def det(a: Any) -> Variable:
    """Computes the determinant of a single square matrix.

    Args:
        a (Variable or array): Matrix of shape ``(n, n)``, floating point.

    Returns:
        Variable: The determinant, a scalar.

    Raises:
        InvalidType: If dtype or shape does not fit.
        ValueError: In backward, if the matrix is singular; on a GPU in debug mode only.

    Example:
        >>> F.det(np.array([[2., 0.], [0., 4.]]))
        variable(8.)
    """
    from chainer.functions.array.reshape import reshape

    a = as_variable(a)
    type_check.expect(type_check.make_variable(a.ndim, "a.ndim") == 2)
    return reshape(batch_det(reshape(a, (1, len(a), a.shape[1]))), ())
