"""Gaussian error linear unit."""

from __future__ import annotations

import math

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation._blockwise import BlockwiseFunction, ValueAndSlope
from chainer.functions.rules import Ops, Value

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


def _normal_distribution(ops: Ops, x: Value) -> Value:
    """Returns the standard normal distribution function."""
    if isinstance(x, Variable) or x.dtype.itemsize != 4:
        return ops.erfc(x * -math.sqrt(0.5)) * 0.5
    # Ten products are faster than the error function of any library.
    u = ops.minimum(x * x, _END)
    y = u * _COEFFICIENTS[-1]
    for c in _COEFFICIENTS[-2:0:-1]:
        y += c
        y *= u
    y += _COEFFICIENTS[0]
    y *= x
    return ops.sigmoid(y)


class GELU(BlockwiseFunction):
    """Gaussian error linear unit."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        probability = _normal_distribution(ops, x)

        def slope() -> Value:
            g = x * x
            g *= -0.5
            g = ops.exp(g)
            g *= 1 / math.sqrt(2 * math.pi)
            g *= x
            g += probability
            return g

        return x * probability, slope


# Factors of x and x ** 3 in the argument of the logistic function. The tanh of half the argument is
# twice the logistic function, less 1.
_LINEAR = 2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


class TanhGELU(BlockwiseFunction):
    """Approximation of the Gaussian error linear unit by tanh."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        square = x * x
        u = square * _CUBIC
        u += _LINEAR
        u *= x
        s = ops.sigmoid(u)
        y = x * s

        def slope() -> Value:
            g = square * (3 * _CUBIC)
            g += _LINEAR
            g *= y
            g *= 1 - s
            g += s
            return g

        return y, slope


class QuickGELU(BlockwiseFunction):
    """Approximation of the Gaussian error linear unit by the logistic function."""

    def formula(self, ops: Ops, x: Value) -> ValueAndSlope:
        s = ops.sigmoid(x * 1.702)
        y = x * s
        return y, lambda: s + y * (1 - s) * 1.702


def gelu(x: VariableLike, approximate: bool = False) -> Variable:
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


def quick_gelu(x: VariableLike) -> Variable:
    """Approximation of the Gaussian error linear unit: ``x * sigmoid(1.702 * x)``.

    CLIP and other published models use it. :func:`gelu` is nearer to the exact function.

    Args:
        x (Variable or array): Input of any shape, floating point.

    Returns:
        Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If ``x`` is not of floating point numbers.

    See: `Gaussian Error Linear Units <https://arxiv.org/abs/1606.08415>`_, section 2

    Example:
        >>> F.quick_gelu(np.array([-1, 0, 1, 2], np.float32)).array.round(4)
        array([-0.1542,  0.    ,  0.8458,  1.9357], dtype=float32)
    """
    return QuickGELU().apply((x,))[0]
