"""Hard swish."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation._blockwise import BlockwiseFunction, ValueAndSlope
from chainer.functions.rules import Ops, Value, array_of


class HardSwish(BlockwiseFunction):
    """Hard swish."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        def slope() -> Value:
            # 0, x / 3 + 1 / 2 or 1, from left to right.
            array = array_of(x)
            inside = ((array > -3) & (array < 3)).astype(x.dtype)
            return (x * (1 / 3) + 0.5) * inside + (array >= 3).astype(x.dtype)

        return x * ops.clip(x + 3, 0.0, 6.0) * (1 / 6), slope


def hard_swish(x: VariableLike) -> Variable:
    """Hard swish, ``x * relu6(x + 3) / 6``: silu without exponentials.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Searching for MobileNetV3 <https://arxiv.org/abs/1905.02244>`_

    Example:
        >>> F.hard_swish(np.array([-4, -1, 0, 1, 4], np.float32)).array.round(4)
        array([-0.    , -0.3333,  0.    ,  0.6667,  4.    ], dtype=float32)
    """
    return HardSwish().apply((x,))[0]
