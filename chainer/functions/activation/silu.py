"""Sigmoid linear unit."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation._blockwise import BlockwiseFunction, ValueAndSlope
from chainer.functions.rules import Ops, Value


class SiLU(BlockwiseFunction):
    """Sigmoid linear unit."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        s = ops.sigmoid(x)
        y = x * s

        def slope() -> Value:
            g = 1 - s
            g *= y
            g += s
            return g

        return y, slope


def silu(x: VariableLike) -> Variable:
    """Sigmoid linear unit, ``x * sigmoid(x)``; also known as swish.

    :func:`chainer.functions.swish` is the same with a learned factor of the sigmoid's argument.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Sigmoid-Weighted Linear Units <https://arxiv.org/abs/1702.03118>`_, `Searching for
    Activation Functions <https://arxiv.org/abs/1710.05941>`_

    Example:
        >>> F.silu(np.array([-1, 0, 1, 2], np.float32)).array.round(4)
        array([-0.2689,  0.    ,  0.7311,  1.7616], dtype=float32)
    """
    return SiLU().of(x)
