"""Hard swish."""

from __future__ import annotations

from typing import Any

import chainer
from chainer_modern.functions.activation._elementwise import Elementwise


class HardSwish(Elementwise):
    """Hard swish."""

    def values(self, xp: Any, x: Any) -> tuple[Any]:
        """Returns ``x * clip(x + 3, 0, 6) / 6``."""
        y = x + 3
        xp.clip(y, 0, 6, out=y)
        y *= x
        y *= 1 / 6
        return (y,)

    def values_and_slopes(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns the function, and 0, ``x / 3 + 1 / 2`` or 1, from left to right."""
        slope = x * (1 / 3)
        slope += 0.5
        slope *= x > -3
        # At 3 the line reaches 1.5 and the slope jumps to 1.
        slope -= (slope - 1) * (x >= 3)
        return *self.values(xp, x), slope

    def derivative(self, x: chainer.Variable) -> Any:
        """Returns the derivative."""
        inside = (x.array > -3) & (x.array < 3)
        return (x * (1 / 3) + 0.5) * inside.astype(x.dtype) + (x.array >= 3).astype(x.dtype)


def hard_swish(x: Any) -> chainer.Variable:
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
