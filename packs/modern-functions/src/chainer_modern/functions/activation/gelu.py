"""Gaussian error linear unit."""

from __future__ import annotations

import math
from typing import Any

import numpy

import chainer
import chainer.functions as F
from chainer.kernel import get_operation
from chainer_modern.functions.activation._elementwise import Elementwise
from chainer_modern.functions.activation._logistic import logistic

# The standard normal distribution function as logistic(x * p(x * x)): the coefficients of p from
# the constant upwards, for x * x up to _END. A weighted least-squares fit on Chebyshev points; in
# float32 the error of the probability is below 1.5e-7, and relative to it, for x > -4, below 3e-6.
_COEFFICIENTS = tuple(
    numpy.float32(c)
    for c in (
        1.5957704782485962,
        0.0726647600531578,
        -6.574649160029367e-05,
        -0.00010889869008678943,
        7.0316073106369e-06,
        -5.533993885364907e-08,
        -2.2243840547275795e-08,
        1.791174653043015e-09,
        -7.236436450064332e-11,
        1.7057352709112794e-12,
        -2.233902861683342e-14,
        1.2607683079230315e-16,
    )
)
_END = numpy.float32(5.5**2)


def normal_distribution(xp: Any, x: Any) -> Any:
    """Returns the standard normal distribution function, as a new array."""
    if x.dtype.itemsize != 4:
        z = x * -math.sqrt(0.5)
        return 0.5 * get_operation("erfc").select(z).forward(z)
    u = xp.square(x)
    xp.minimum(u, _END, out=u)
    y = u * _COEFFICIENTS[-1]
    for c in _COEFFICIENTS[-2:0:-1]:
        y += c
        y *= u
    y += _COEFFICIENTS[0]
    y *= x
    return logistic(xp, y)


class GELU(Elementwise):
    """Gaussian error linear unit."""

    def values(self, xp: Any, x: Any) -> tuple[Any]:
        """Returns ``x * P(Z < x)``."""
        y = normal_distribution(xp, x)
        y *= x
        return (y,)

    def values_and_slopes(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns the function, and ``P(Z < x) + x * p(x)``."""
        probability = normal_distribution(xp, x)
        slope = xp.square(x)
        slope *= -0.5
        xp.exp(slope, out=slope)
        slope *= 1 / math.sqrt(2 * math.pi)
        slope *= x
        slope += probability
        probability *= x
        return probability, slope

    def derivative(self, x: chainer.Variable) -> Any:
        """Returns the derivative."""
        density = F.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        return F.erfc(x * -math.sqrt(0.5)) * 0.5 + x * density


_SLOPE, _CUBIC = 2 * math.sqrt(2 / math.pi), 0.044715


class TanhGELU(Elementwise):
    """Approximation of the Gaussian error linear unit by tanh."""

    def _gate(self, xp: Any, x: Any, square: Any) -> Any:
        u = square * (_CUBIC * _SLOPE)
        u += _SLOPE
        u *= x
        return logistic(xp, u)

    def values(self, xp: Any, x: Any) -> tuple[Any]:
        """Returns ``x * (1 + tanh(...)) / 2``, which is ``x * logistic(...)``."""
        y = self._gate(xp, x, xp.square(x))
        y *= x
        return (y,)

    def values_and_slopes(self, xp: Any, x: Any) -> tuple[Any, Any]:
        """Returns the function ``y = x * s``, and ``s + y * (1 - s) * u'(x)``."""
        square = xp.square(x)
        s = self._gate(xp, x, square)
        y = x * s
        square *= 3 * _CUBIC * _SLOPE
        square += _SLOPE
        square *= y
        square *= 1 - s
        square += s
        return y, square

    def derivative(self, x: chainer.Variable) -> Any:
        """Returns the derivative."""
        square = x * x
        s = F.sigmoid((square * _CUBIC + 1.0) * x * _SLOPE)
        return s * (x * (1.0 - s) * (square * (3 * _CUBIC * _SLOPE) + _SLOPE) + 1.0)


def gelu(x: Any, approximate: bool = False) -> chainer.Variable:
    """Gaussian error linear unit.

    .. math:: f(x) = x \\Phi(x)

    where :math:`\\Phi` is the distribution function of the standard normal distribution.

    Args:
        x (Variable or array): Input of any shape, floating point.
        approximate (bool): If True, computes the approximation of the paper and of GPT-2,
            :math:`x (1 + \\tanh(\\sqrt{2 / \\pi} (x + 0.044715 x^3))) / 2`.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Gaussian Error Linear Units <https://arxiv.org/abs/1606.08415>`_

    Example:
        >>> x = np.array([-1, 0, 1, 2], np.float32)
        >>> F.gelu(x).array.round(4)
        array([-0.1587,  0.    ,  0.8413,  1.9545], dtype=float32)
        >>> F.gelu(x, approximate=True).array.round(4)
        array([-0.1588,  0.    ,  0.8412,  1.9546], dtype=float32)
    """
    function = TanhGELU() if approximate else GELU()
    return function.apply((x,))[0]
