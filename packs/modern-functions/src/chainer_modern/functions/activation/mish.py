"""Mish."""

from __future__ import annotations

from typing import Any

import chainer
import chainer.functions as F
from chainer_modern.functions.activation._elementwise import Elementwise


class Mish(Elementwise):
    """Mish."""

    # With e = exp(x), tanh(softplus(x)) = (e * e + 2 * e) / (e * e + 2 * e + 2): one exponential.

    def _parts(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns ``e`` and ``e * e + 2 * e``, for ``x`` up to where the quotient is 1."""
        e = xp.minimum(x, 20.0)
        xp.exp(e, out=e)
        n = e + 2
        n *= e
        return e, n

    def values(self, xp: Any, x: Any) -> tuple[Any]:
        """Returns ``x * tanh(softplus(x))``."""
        _, n = self._parts(xp, x)
        y = x * n
        n += 2
        y /= n
        return (y,)

    def values_and_slopes(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns the function ``x * t``, and ``t + x * 4 * e * (e + 1) / (n + 2) ** 2``."""
        e, n = self._parts(xp, x)
        d = n + 2
        xp.divide(1, d, out=d)
        n *= d
        slope = e + 1
        slope *= e
        slope *= x
        slope *= d
        slope *= d
        slope *= 4
        slope += n
        n *= x
        return n, slope

    def derivative(self, x: chainer.Variable) -> Any:
        """Returns the derivative."""
        t = F.tanh(F.softplus(x))
        return t + x * F.sigmoid(x) * (1.0 - t * t)


def mish(x: Any) -> chainer.Variable:
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
