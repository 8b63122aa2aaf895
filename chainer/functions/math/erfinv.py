"""Inverse of the error function."""

from __future__ import annotations

import math

from chainer.backends.operations import special
from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions._documentation import special_sections
from chainer.functions.math._special import InverseFunction
from chainer.functions.rules import Ops, Value


class ErfInv(InverseFunction):
    """Inverse of the error function."""

    operation = special.erfinv

    def derivative(self, ops: Ops, y: Value) -> Value:
        return ops.exp(y * y) * (math.sqrt(math.pi) / 2)


@special_sections(x="Numbers in [-1, 1]", limits=" Infinite at -1 and 1, not a number outside.")
def erfinv(x: VariableLike) -> Variable:
    """Elementwise inverse of the error function :func:`erf`.

    Source: `Digital Library of Mathematical Functions, 7.17 <https://dlmf.nist.gov/7.17>`_.

    Example:
        >>> F.erfinv(np.array([-1, 0, 0.5])).array.round(6)
        array([    -inf, 0.      , 0.476936])
    """
    return ErfInv().apply((x,))[0]
