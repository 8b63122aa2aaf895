"""Sigmoid linear unit."""

from __future__ import annotations

from typing import Any

import chainer
import chainer.functions as F
from chainer_modern.functions.activation._elementwise import Elementwise
from chainer_modern.functions.activation._logistic import logistic


class SiLU(Elementwise):
    """Sigmoid linear unit."""

    def values(self, xp: Any, x: Any) -> tuple[Any]:
        """Returns ``x * sigmoid(x)``."""
        y = logistic(xp, x)
        y *= x
        return (y,)

    def values_and_slopes(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns the function ``y = x * s``, and ``s + y * (1 - s)``."""
        s = logistic(xp, x)
        y = x * s
        slope = 1 - s
        slope *= y
        slope += s
        return y, slope

    def derivative(self, x: chainer.Variable) -> Any:
        """Returns the derivative."""
        s = F.sigmoid(x)
        return s * (x * (1.0 - s) + 1.0)


def silu(x: Any) -> chainer.Variable:
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
    return SiLU().apply((x,))[0]
