"""Logarithm of one plus."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.functions.math._elementwise import Elementwise


class Log1p(Elementwise):
    """``log(1 + x)``."""

    def compute(self, x: Any) -> Any:
        return self.xp.log1p(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return 1 / (x + 1)


def log1p(x: Any) -> Variable:
    """Elementwise natural logarithm of ``1 + x``, accurate near zero.

    Args:
        x (Variable or array): Numbers greater than -1, of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.log1p(np.array([0.]))
        variable([0.])
    """
    return Log1p().apply((x,))[0]
