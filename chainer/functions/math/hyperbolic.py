"""Hyperbolic functions."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.functions.math._elementwise import Elementwise


class Sinh(Elementwise):
    """Hyperbolic sine."""

    def compute(self, x: Any) -> Any:
        return self.xp.sinh(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return m.cosh(x)


class Cosh(Elementwise):
    """Hyperbolic cosine."""

    def compute(self, x: Any) -> Any:
        return self.xp.cosh(x)

    def derivative(self, m: Any, x: Any) -> Any:
        return m.sinh(x)


def sinh(x: Any) -> Variable:
    """Elementwise hyperbolic sine.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.sinh(np.array([0.]))
        variable([0.])
    """
    return Sinh().apply((x,))[0]


def cosh(x: Any) -> Variable:
    """Elementwise hyperbolic cosine.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.

    Example:
        >>> F.cosh(np.array([0.]))
        variable([1.])
    """
    return Cosh().apply((x,))[0]
