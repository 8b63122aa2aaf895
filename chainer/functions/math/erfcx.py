"""Scaled complementary error function."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import SpecialFunction
from chainer.functions.rules import Ops, Value


class Erfcx(SpecialFunction):
    """Scaled complementary error function."""

    operation = special.erfcx
    retained_outputs = (0,)

    def derivative(self, ops: Ops, x: Value, y: Value) -> Value:
        return (x * y - 1 / math.sqrt(math.pi)) * 2


@special_sections()
def erfcx(x: VariableLike) -> Variable:
    """Elementwise scaled complementary error function ``exp(x ** 2) * erfc(x)``.

    It is accurate for large ``x``, where :func:`erfc` underflows and the exponential overflows.

    Source: `Digital Library of Mathematical Functions, 7.2 <https://dlmf.nist.gov/7.2>`_.

    Example:
        >>> F.erfcx(np.array([0., 5., 1000.])).array.round(6)
        array([1.000000e+00, 1.107050e-01, 5.640000e-04])
    """
    return Erfcx().apply((x,))[0]
