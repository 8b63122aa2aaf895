"""Elementwise remainder."""

from __future__ import annotations

import numpy

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayModule, Arrays, Indexes, VariableLike
from chainer.functions.math._operators import FloatBroadcastingFunction
from chainer.functions.rules import Ops, Value


class Fmod(FloatBroadcastingFunction):
    """Remainder with the sign of the dividend."""

    label = "fmod"
    retained_inputs = (0, 1)

    def forward(self, inputs: Arrays) -> Arrays:
        return (_fmod(self.xp, *inputs),)

    def partials(
        self, ops: Ops, targets: Indexes, x: Value, divisor: Value, gy: Value
    ) -> list[Value]:
        # The quotient, rounded, is constant almost everywhere.
        return [gy * -ops.fix(x / divisor) if i else gy for i in targets]


def _fmod(xp: ArrayModule, x: Array, divisor: Array) -> Array:
    # numpy.fmod takes one division per bit of the quotient. Up to 2**29 a rounded quotient in
    # double precision is exact for single precision, and several times faster.
    if xp is numpy and x.dtype.char == "f" and x.ndim:
        with numpy.errstate(all="ignore"):
            quotient = x / divisor.astype("d")
            if (abs(quotient) < 2.0**29).all() and numpy.isfinite(divisor).all():
                numpy.trunc(quotient, out=quotient)
                quotient *= divisor
                return numpy.copysign((x - quotient).astype("f"), x)
    return xp.fmod(x, divisor)


def fmod(x: VariableLike, divisor: VariableLike) -> Variable:
    """Elementwise remainder of ``x / divisor``, with the sign of ``x``.

    Args:
        x (Variable or array): Dividends, floating point.
        divisor (Variable or array): Divisors of the same dtype, in a shape that broadcasts with
            ``x``.

    Returns:
        Variable: Remainders.

    Raises:
        InvalidType: If dtypes or shapes do not fit.

    Example:
        >>> F.fmod(np.array([5.5, -5.5]), np.array([2., 2.]))
        variable([ 1.5, -1.5])
    """
    return Fmod().apply((x, divisor))[0]
