"""Exponential minus one."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.functions.math._elementwise import Elementwise


class Expm1(Elementwise):
    """``exp(x) - 1``."""

    def compute(self, x: Any) -> Any:
        return self.xp.expm1(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return m.exp(x)


def expm1(x: Any) -> Variable:
    """Elementwise ``exp(x) - 1``, accurate near zero.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.expm1(np.array([0.]))
        variable([0.])
    """
    return Expm1().apply((x,))[0]
