"""Exponentials of float64 that LLVM turns into vector instructions.

As in :mod:`chainer_numba.vector_math`, the argument is reduced to a small interval, where a Taylor
polynomial is evaluated. The largest errors are below 3 units in the last place.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any

from numba import extending, types

from chainer_numba.launching import inlined

# For type checkers, what Numba compiles has no types.
intrinsic: Any = extending.intrinsic

_LOG2_E = 1 / log(2)
# log(2) as a sum, so that products of the first part with small integers are exact: its last 20
# bits are zero. The second part are the next digits of log(2).
_LOG_2_HIGH, _LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
#: Beyond these, exp is infinite, and zero.
_LARGEST, _SMALLEST = 710.0, -746.0

# Coefficients of (exp(r) - 1 - r) / r ** 2. |r| <= log(2) / 2, where the next term is less than
# 2 ** -57 of the sum.
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1 / factorial(n) for n in range(2, 14)
)

#: 1.5 * 2 ** 52: added to a number of 32 bits, it leaves the nearest integer in the last bits.
_ROUNDING = 6755399441055744.0


@intrinsic
def _power_of_rounded(typingctx: Any, shifted: Any) -> Any:
    """Returns ``2 ** n`` for ``_ROUNDING + n``, n from -1022 to 1023."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], context.get_value_type(types.int64))
        # The shift removes the bits in front of the integer.
        exponent = builder.shl(builder.add(bits, bits.type(1023)), bits.type(52))
        return builder.bitcast(exponent, context.get_value_type(types.float64))

    return types.float64(types.float64), generate


@inlined
def _reduced(x):
    """Returns ``n`` and ``exp(r) - 1`` with ``x = n log(2) + r``."""
    n = (x * _LOG2_E + _ROUNDING) - _ROUNDING
    r = (x - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    tail = _C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13))))
    tail = _C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * tail)))))
    return n, r + r * r * tail


@inlined
def exp(x):
    """Returns the exponential; NaN of NaN."""
    # Written so that NaN passes: a comparison with it is false.
    bounded = _LARGEST if x > _LARGEST else x
    bounded = _SMALLEST if bounded < _SMALLEST else bounded
    n, p = _reduced(bounded)
    # Two factors: the power of two of a subnormal result is not a normal number.
    half = (n * 0.5 + _ROUNDING) - _ROUNDING
    first, second = _power_of_rounded(half + _ROUNDING), _power_of_rounded(n - half + _ROUNDING)
    return (p + 1.0) * first * second


@inlined
def tanh(x):
    """Returns the hyperbolic tangent."""
    magnitude = -x if x < 0.0 else x
    # exp(-40) is less than half of the last place of one.
    bounded = 20.0 if magnitude > 20.0 else magnitude
    n, p = _reduced(-2.0 * bounded)
    scale = _power_of_rounded(n + _ROUNDING)
    e = scale * p + (scale - 1.0)
    y = -e / (e + 2.0)
    # Where it is not less or greater, x keeps the sign of zero, and NaN.
    return -y if x < 0.0 else (y if x > 0.0 else x)


@inlined
def sigmoid(x):
    """Returns ``1 / (1 + exp(-x))``; less than 1e-307 becomes zero."""
    magnitude = -x if x < 0.0 else x
    bounded = 708.0 if magnitude > 708.0 else magnitude
    n, p = _reduced(-bounded)
    e = (p + 1.0) * _power_of_rounded(n + _ROUNDING)
    e = 0.0 if magnitude > 708.0 else e
    y = 1.0 / (1.0 + e)
    return e * y if x < 0.0 else y
