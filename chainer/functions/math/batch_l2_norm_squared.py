"""Squared L2 norm of each sample."""

from __future__ import annotations

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Arrays, VariableLike
from chainer.core.utils import type_check
from chainer.functions.rules import Ops, UnaryFunction, Value


class BatchL2NormSquared(UnaryFunction):
    """Squared Euclidean norm of each sample of a batch."""

    type_check_key = ()
    retained_inputs = (0,)
    batch_inputs = (0,)

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        type_check.expect(in_types.size() == 1)
        type_check.expect(in_types[0].dtype.kind == "f", in_types[0].ndim >= 2)

    def forward(self, inputs: Arrays) -> Arrays:
        (x,) = inputs
        # A length of -1 is undecided where there are no elements.
        flat = x.reshape(len(x), -1) if x.size else x.reshape(len(x), 0)
        if flat.dtype == numpy.float16:
            # Squares are rounded before they are added, as in release 7.
            return ((flat * flat).sum(axis=1),)
        # Products and sums in one pass, without an array of the squares.
        return (self.xp.einsum("ij,ij->i", flat, flat),)

    def gradient(self, ops: Ops, x: Value, gy: Value) -> Value:
        return x * (gy + gy).reshape((-1,) + (1,) * (x.ndim - 1))


def batch_l2_norm_squared(x: VariableLike) -> Variable:
    """Squared L2 (Euclidean) norm of each sample.

    Args:
        x (Variable or array): Batch of shape ``(B, ...)`` with two axes or more, floating point.

    Returns:
        Variable: Norms of shape ``(B,)``.

    Raises:
        InvalidType: If dtype or shape does not fit.

    Example:
        >>> F.batch_l2_norm_squared(np.array([[3., 4.], [0., 1.]]))
        variable([25.,  1.])
    """
    return BatchL2NormSquared().apply((x,))[0]
