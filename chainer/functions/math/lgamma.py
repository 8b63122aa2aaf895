"""Logarithm of the gamma function."""

from __future__ import annotations

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._special import SpecialFunction
from chainer.functions.rules import Ops, Value


class LGamma(SpecialFunction):
    """Logarithm of the absolute value of the gamma function."""

    operation = special.lgamma

    def derivative(self, ops: Ops, x: Value) -> Value:
        return ops.digamma(x)


def lgamma(x: VariableLike) -> Variable:
    """Elementwise logarithm of the absolute value of the gamma function.

    On the CPU it needs SciPy (``pip install "chainer[scipy]"``).

    Args:
        x (:class:`~chainer.Variable` or array): Input of any shape, floating point.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``. Infinite at 0 and negative
        integers.

    Raises:
        InvalidType: If the dtype does not fit.
        ImportError: If ``x`` is in host memory and SciPy is not installed.

    Source: `Digital Library of Mathematical Functions, 5.2 <https://dlmf.nist.gov/5.2>`_.

    Example:
        >>> F.lgamma(np.array([-0.5, 1, 5])).array.round(6)
        array([1.265512, 0.      , 3.178054])
    """
    return LGamma().apply((x,))[0]
