"""Cross-covariance penalty."""

from __future__ import annotations

from chainer import functions
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.core.utils.argument import explained_keywords
from chainer.functions.loss._pair import check_reduce
from chainer.functions.rules import ExpressionFunction, Ops, Value, Values, expect_one_dtype
from chainer.functions.rules.batching import with_samples


class CrossCovariance(ExpressionFunction):
    """Covariance between the columns of two matrices."""

    argument_names = ("y", "z")

    type_check_key = ()
    retained_inputs = (0, 1)

    def __init__(self, reduce: str = "half_squared_sum") -> None:
        check_reduce(reduce, "half_squared_sum", "no")
        self.reduce = reduce

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        y_type, z_type = expect_one_dtype(in_types, 2)
        type_check.expect(
            y_type.ndim == 2,
            z_type.ndim == 2,
            y_type.shape[0] == z_type.shape[0],
        )

    def forward(self, inputs: Arrays) -> Arrays:
        y, z = inputs
        if not len(y):
            covariance = self.xp.zeros((y.shape[1], z.shape[1]), y.dtype)
        else:
            # Centering one of the two centers the product.
            centered_z = z - z.mean(axis=0, dtype=z.dtype)
            covariance = (y - y.mean(axis=0, dtype=y.dtype)).T.dot(centered_z)
            covariance /= len(y)
        if self.reduce == "no":
            return (covariance,)
        return (self.xp.vdot(covariance, covariance) * covariance.dtype.type(0.5),)

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        taken = with_samples(inputs, are_batched, size)
        scale = 1.0 / max(taken[0].shape[1], 1)
        y, z = (x - functions.sum(x, axis=1, keepdims=True) * scale for x in taken)
        covariance = functions.matmul(y, z, transa=True) * scale
        if self.reduce == "no":
            return (covariance,)
        return (functions.sum(covariance * covariance, axis=(1, 2)) * 0.5,)

    def gradients(self, ops: Ops, targets: Indexes, y: Value, z: Value, gy: Value) -> Values:
        scale = 1.0 / max(len(y), 1)
        y, z = (x - ops.sum(x, axis=0, keepdims=True) * scale for x in (y, z))
        if self.reduce == "no":
            weights = gy * scale
        else:
            weights = ops.matmul(y, z, transa=True) * (scale * scale) * gy
        return tuple(
            [ops.matmul(y, weights) if i else ops.matmul(z, weights, transb=True) for i in targets]
        )


@explained_keywords
def cross_covariance(
    y: VariableLike, z: VariableLike, reduce: str = "half_squared_sum"
) -> Variable:
    """Computes the sum-squared cross-covariance penalty between ``y`` and ``z``.

    It can be used to disentangle variables. See Discovering Hidden Factors of Variation in Deep
    Networks (https://arxiv.org/abs/1412.6583v3).

    Args:
        y (Variable or array): Matrix of shape ``(B, M)``; the first axis is the batch. Floating
            point.
        z (Variable or array): Matrix of shape ``(B, N)`` and the same dtype.
        reduce (str): ``'half_squared_sum'``: half the squared Frobenius norm of the covariance
            matrix. ``'no'``: that matrix, of shape ``(M, N)``.

    Returns:
        Variable: The loss.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If ``reduce`` is something else.

    Example:
        >>> F.cross_covariance(np.array([[0.], [1.]]), np.array([[0.], [2.]]), reduce='no')
        variable([[0.5]])
    """
    return CrossCovariance(reduce).apply((y, z))[0]
