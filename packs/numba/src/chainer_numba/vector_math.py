"""Exponentials and logarithms of float32 that LLVM turns into vector instructions.

Loops that call a function of the C library for each element are not vectorized. Those here consist
of a few multiplications and no branch: the argument is reduced to a small interval, there a Taylor
polynomial is evaluated, and the power of two is put into the bits of the exponent. The largest
errors are below 2 units in the last place.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy
from numba import extending, types

from chainer_numba.launching import inlined

if TYPE_CHECKING:
    from chainer.typing import Array

f = numpy.float32
# For type checkers, what Numba compiles has no types.
intrinsic: Any = extending.intrinsic

_LOG2_E = f(1 / log(2))
# log(2) as a sum, so that products of the first part with small integers are exact.
_LOG_2_HIGH = f(0.693359375)
_LOG_2_LOW = f(log(2) - 0.693359375)
#: Beyond these, exp is infinite, and zero.
_LARGEST, _SMALLEST = f(89.0), f(-104.0)

# Coefficients of (exp(r) - 1 - r) / r ** 2, 1 / n!. |r| <= log(2) / 2, where the next term is less
# than 2 ** -24 of the sum.
_C2, _C3, _C4, _C5, _C6, _C7 = (
    f(1 / 2),
    f(1 / 6),
    f(1 / 24),
    f(1 / 120),
    f(1 / 720),
    f(1 / 5040),
)
_ZERO, _HALF, _ONE, _TWO = f(0), f(0.5), f(1), f(2)
_SQRT_HALF = f(0.5**0.5)
_MANTISSA_BITS = numpy.int32(23)
_BIAS = numpy.int32(127)


@intrinsic
def bits_to_float(typingctx: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


@intrinsic
def _float_to_bits(typingctx: Any, value: Array) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(types.float32), generate


@intrinsic
def _round(typingctx: Any, value: Array) -> Any:
    """Rounds to the nearest integer; an instruction of the processor."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        function = builder.module.declare_intrinsic("llvm.rint", [args[0].type])
        return builder.call(function, args)

    return types.float32(types.float32), generate


@intrinsic
def _order_of(typingctx: Any, value: Array) -> Any:
    """Returns an integer that is the larger the larger a float is; NaN has the largest."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], context.get_value_type(types.int32))
        sign = builder.ashr(bits, bits.type(31))
        return builder.xor(bits, builder.and_(sign, bits.type(0x7FFFFFFF)))

    return types.int32(types.float32), generate


@intrinsic
def _value_of(typingctx: Any, order: Any) -> Any:
    """The inverse of _order_of."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sign = builder.ashr(args[0], args[0].type(31))
        bits = builder.xor(args[0], builder.and_(sign, sign.type(0x7FFFFFFF)))
        return builder.bitcast(bits, context.get_value_type(types.float32))

    return types.float32(types.int32), generate


@intrinsic
def _larger_integer(typingctx: Any, a: Array, b: Array) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.icmp_signed(">", *args), *args)

    return types.int32(types.int32, types.int32), generate


@inlined
def maximum(x):
    """Returns the maximum of a vector, NaN if there is one.

    Maxima of floats depend on the order if there is a NaN, so that LLVM does not vectorize their
    loop. Maxima of integers do not.
    """
    most = numpy.int32(-(2**31))
    for i in range(len(x)):
        most = _larger_integer(most, _order_of(x[i]))
    return _value_of(most)


@inlined
def larger(a, b):
    """Returns the larger number; NaN if one is."""
    return a if (a > b or a != a) else b


@inlined
def power_of_two(n):
    """Returns ``2 ** n`` for an integer from -126 to 127."""
    return bits_to_float((numpy.int32(n) + _BIAS) << _MANTISSA_BITS)


@inlined
def _reduced(x):
    """Returns ``n`` and ``exp(r) - 1`` with ``x = n log(2) + r``."""
    n = _round(x * _LOG2_E)
    r = (x - n * _LOG_2_HIGH) - n * _LOG_2_LOW
    tail = _C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * _C7))))
    return n, r + r * r * tail


@inlined
def exp(x):
    """Returns the exponential; NaN of NaN."""
    # Written so that NaN passes: a comparison with it is false.
    bounded = _LARGEST if x > _LARGEST else x
    bounded = _SMALLEST if bounded < _SMALLEST else bounded
    n, p = _reduced(bounded)
    # Two factors: the power of two of a subnormal result is not a normal number.
    half = _round(n * _HALF)
    return (p + _ONE) * power_of_two(half) * power_of_two(n - half)


@inlined
def exp_of_negative(x):
    """Returns the exponential of a number that is not positive; less than 1e-37 becomes zero."""
    bounded = f(-87.0) if x < f(-87.0) else x
    n, p = _reduced(bounded)
    y = (p + _ONE) * power_of_two(n)
    return _ZERO if x < f(-87.0) else y


@inlined
def expm1_of_negative(x):
    """Returns ``exp(x) - 1`` of a number that is not positive, accurate near 0."""
    # exp(-18) is less than half of the last place of one.
    bounded = f(-18.0) if x < f(-18.0) else x
    n, p = _reduced(bounded)
    scale = power_of_two(n)
    return scale * p + (scale - _ONE)


@inlined
def tanh(x):
    """Returns the hyperbolic tangent."""
    magnitude = -x if x < _ZERO else x
    e = expm1_of_negative(-_TWO * magnitude)
    y = -e / (e + _TWO)
    # Multiplying keeps the sign of zero, and NaN.
    return -y if x < _ZERO else (y if x > _ZERO else x)


@inlined
def sigmoid(x):
    """Returns ``1 / (1 + exp(-x))``; less than 1e-37 becomes zero."""
    magnitude = -x if x < _ZERO else x
    e = exp_of_negative(-magnitude)
    y = _ONE / (_ONE + e)
    return e * y if x < _ZERO else y


@inlined
def log1p_of_fraction(x):
    """Returns ``log(1 + x)`` for ``x`` from 0 to 1."""
    # 1 + x is halved if it exceeds sqrt(2); then log(m) = 2 atanh((m - 1) / (m + 1)).
    large = x > f(0.41421356)
    # Numerator and denominator in terms of x: nothing is rounded away where x is small.
    top = x - _ONE if large else x
    bottom = x + f(3.0) if large else x + _TWO
    s = top / bottom
    q = s * s
    series = f(2 / 3) + q * (f(2 / 5) + q * (f(2 / 7) + q * f(2 / 9)))
    y = s * _TWO + s * q * series
    return y + f(log(2)) if large else y
