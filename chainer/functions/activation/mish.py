"""Mish."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation._blockwise import BlockwiseFunction, ValueAndSlope
from chainer.functions.rules import Ops, Value


class Mish(BlockwiseFunction):
    """Mish."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        # With e = exp(x), tanh(softplus(x)) = e * (e + 2) / (e * (e + 2) + 2): one exponential
        # instead of three functions. From x = 20 on the quotient is 1 in all dtypes.
        e = ops.exp(ops.clip(x, None, 20.0))
        n = e * (e + 2)
        inverse = 1 / (n + 2)
        t = n * inverse

        def slope() -> Value:
            g = e + 1
            g *= e
            g *= x
            g *= inverse
            g *= inverse
            g *= 4
            g += t
            return g

        return x * t, slope


def mish(x: VariableLike) -> Variable:
    """Mish, ``x * tanh(softplus(x))``.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Mish: A Self Regularized Non-Monotonic Activation Function
    <https://arxiv.org/abs/1908.08681>`_

    Example:
        >>> F.mish(np.array([-1, 0, 1, 2], np.float32)).array.round(4)
        array([-0.3034,  0.    ,  0.8651,  1.944 ], dtype=float32)
    """
    return Mish().apply((x,))[0]
