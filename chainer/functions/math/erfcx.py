"""Scaled complementary error function."""

from __future__ import annotations

import math
from typing import Any

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.math._special import SpecialFunction


class Erfcx(SpecialFunction):
    """Scaled complementary error function."""

    operation = special.erfcx
    retained_outputs = (0,)

    def derivative(self, ops: Any, *values: Any) -> Any:
        x, y = values
        return (x * y - 1 / math.sqrt(math.pi)) * 2


def erfcx(x: VariableLike) -> Variable:
    """Elementwise scaled complementary error function ``exp(x ** 2) * erfc(x)``.

    It is accurate for large ``x``, where :func:`erfc` underflows and the exponential overflows. On
    the CPU it needs SciPy (``pip install "chainer[scipy]"``).

    Args:
        x (:class:`~chainer.Variable` or array): Input of any shape, floating point.

    Returns:
        ~chainer.Variable: Output of the shape and dtype of ``x``.

    Raises:
        InvalidType: If the dtype does not fit.
        ImportError: If ``x`` is in host memory and SciPy is not installed.

    Source: `Digital Library of Mathematical Functions, 7.2 <https://dlmf.nist.gov/7.2>`_.

    Example:
        >>> F.erfcx(np.array([0., 5., 1000.])).array.round(6)
        array([1.000000e+00, 1.107050e-01, 5.640000e-04])
    """
    return Erfcx().apply((x,))[0]
