"""Inverse of the complementary error function."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import InverseFunction
from chainer.functions.rules import Ops, Value


class ErfcInv(InverseFunction):
    """Inverse of the complementary error function."""

    operation = special.erfcinv

    def derivative(self, ops: Ops, y: Value) -> Value:
        return ops.exp(y * y) * (-math.sqrt(math.pi) / 2)


@special_sections(x="Numbers in [0, 2]", limits=" Infinite at 0 and 2, not a number outside.")
def erfcinv(x: VariableLike) -> Variable:
    """Elementwise inverse of the complementary error function :func:`erfc`.

    Source: `Digital Library of Mathematical Functions, 7.17 <https://dlmf.nist.gov/7.17>`_.

    Example:
        >>> F.erfcinv(np.array([0, 0.5, 1.5])).array.round(6)
        array([      inf,  0.476936, -0.476936])
    """
    return ErfcInv().apply((x,))[0]
