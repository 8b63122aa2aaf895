"""Converters of special functions, for which ONNX has no operators: approximations in float64."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes

_D = numpy.float64


class _Doubles:
    """Arithmetic of float64 in a graph: names of values, and numbers, as operands."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes

    def number(self, value: str | float) -> str:
        return value if isinstance(value, str) else self.nodes.const(value, _D)

    def __call__(self, operator: str, *operands: str | float) -> str:
        return self.nodes(operator, *[self.number(x) for x in operands])

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Returns a polynomial by Horner's rule; the constant coefficient comes first."""
        y: str | float = coefficients[-1]
        for c in coefficients[-2::-1]:
            y = self("Add", self("Mul", y, x), c)
        return self.number(y)


def _in_doubles(formula: Callable[[_Doubles, str], str]) -> object:
    """Makes the converter of a function of one array.

    Cancellation would cost digits that float32 does not have.
    """

    @rule()
    @functools.wraps(formula)
    def convert(g: Nodes, x: str) -> str:
        wide = g.dtype() == _D
        y = formula(_Doubles(g), x if wide else g.cast(x, _D))
        return y if wide else g.cast(y, g.dtype())

    return convert


#: Coefficients of Lanczos' approximation with g = 7 and nine terms (Lanczos, "A Precision
#: Approximation of the Gamma Function", 1964; in this form by P. Godfrey).
_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def _distance_to_integer(d: _Doubles, x: str) -> str:
    """Returns the difference to the nearest integer, of which sine and tangent are exact."""
    return d("Sub", x, d("Floor", d("Add", x, 0.5)))


@_in_doubles
def LGamma(d: _Doubles, x: str) -> str:
    """Logarithm of the absolute value of the gamma function."""
    # The approximation serves x >= 1/2; the others are reflected there.
    left = d("Less", x, 0.5)
    z = d("Sub", d("Where", left, d("Sub", 1.0, x), x), 1.0)
    series: str | float = _LANCZOS[0]
    for i, c in enumerate(_LANCZOS[1:], 1):
        series = d("Add", series, d("Div", c, d("Add", z, float(i))))
    shifted = d("Add", z, 7.5)
    power = d("Mul", d("Add", z, 0.5), d("Sub", d("Log", shifted), 1.0))
    constant = 0.5 * math.log(2 * math.pi) - 7.0
    right = d("Add", d("Add", power, constant), d("Log", series))
    sine = d("Sin", d("Mul", math.pi, _distance_to_integer(d, x)))
    reflected = d("Sub", d("Log", d("Div", math.pi, d("Abs", sine))), right)
    return d("Where", left, reflected, right)


#: B(2k) / 2k of Bernoulli's numbers, k = 1, 2, ...: the asymptotic series of digamma.
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)

#: Steps by which an argument is raised until the asymptotic series has the precision of float64.
_STEPS = 8


@_in_doubles
def DiGamma(d: _Doubles, x: str) -> str:
    """Derivative of the logarithm of the gamma function."""
    left = d("Less", x, 0.5)
    z = d("Where", left, d("Sub", 1.0, x), x)
    lowered: str | float = 0.0
    for i in range(_STEPS):
        lowered = d("Add", lowered, d("Div", 1.0, d("Add", z, float(i))))
    large = d("Add", z, float(_STEPS))
    inverse = d("Div", 1.0, d("Mul", large, large))
    series = d("Mul", inverse, d.polynomial(inverse, _DIGAMMA))
    right = d("Sub", d("Log", large), d("Div", 0.5, large))
    right = d("Sub", d("Sub", right, series), lowered)
    # The cotangent as a quotient of sines: runtimes lack the tangent of float64.
    part = _distance_to_integer(d, x)
    sine = d("Sin", d("Mul", math.pi, part))
    cosine = d("Sin", d("Mul", math.pi, d("Sub", 0.5, part)))
    cotangent = d("Div", d("Mul", math.pi, cosine), sine)
    return d("Where", left, d("Sub", right, cotangent), right)


# Coefficients of the rational approximations of the quantiles of the normal distribution, of
# relative precision 1e-16 (M. J. Wichura, "Algorithm AS 241", Applied Statistics 37, 1988).
_CENTER = (
    (
        3.3871328727963666080,
        133.14166789178437745,
        1971.5909503065514427,
        13731.693765509461125,
        45921.953931549871457,
        67265.770927008700853,
        33430.575583588128105,
        2509.0809287301226727,
    ),
    (
        1.0,
        42.313330701600911252,
        687.18700749205790830,
        5394.1960214247511077,
        21213.794301586595867,
        39307.895800092710610,
        28729.085735721942674,
        5226.4952788528545610,
    ),
)
_TAIL = (
    (
        1.42343711074968357734,
        4.63033784615654529590,
        5.76949722146069140550,
        3.64784832476320460504,
        1.27045825245236838258,
        0.241780725177450611770,
        0.0227238449892691845833,
        7.74545014278341407640e-4,
    ),
    (
        1.0,
        2.05319162663775882187,
        1.67638483018380384940,
        0.689767334985100004550,
        0.148103976427480074590,
        0.0151986665636164571966,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)
_FAR_TAIL = (
    (
        6.65790464350110377720,
        5.46378491116411436990,
        1.78482653991729133580,
        0.296560571828504891230,
        0.0265321895265761230930,
        0.00124266094738807843860,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ),
    (
        1.0,
        0.599832206555887937690,
        0.136929880922735805310,
        0.0148753612908506148525,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)


def _quantile(d: _Doubles, q: str, tail: str) -> str:
    """Returns a quantile of the normal distribution.

    Args:
        d: The graph.
        q: The probability minus one half.
        tail: The smaller one of the probability and its complement.
    """

    def rational(x: str, coefficients: tuple[Sequence[float], Sequence[float]]) -> str:
        above, below = (d.polynomial(x, c) for c in coefficients)
        return d("Div", above, below)

    center = d("Mul", q, rational(d("Sub", 0.180625, d("Mul", q, q)), _CENTER))
    # Both branches are computed: the one that is not selected gets numbers that it can take.
    depth = d("Sqrt", d("Neg", d("Log", tail)))
    is_infinite = d("Less", 1e10, depth)
    depth = d("Where", is_infinite, 6.0, depth)
    near = rational(d("Sub", depth, 1.6), _TAIL)
    far = rational(d("Sub", depth, 5.0), _FAR_TAIL)
    size = d("Where", d("Less", 5.0, depth), far, near)
    size = d("Where", is_infinite, math.inf, size)
    signed = d("Mul", d("Sign", q), size)
    return d("Where", d("Less", 0.425, d("Abs", q)), signed, center)


@_in_doubles
def Ndtri(d: _Doubles, p: str) -> str:
    """Quantile of the normal distribution."""
    return _quantile(d, d("Sub", p, 0.5), d("Min", p, d("Sub", 1.0, p)))


@_in_doubles
def ErfInv(d: _Doubles, x: str) -> str:
    """Inverse of the error function."""
    tail = d("Mul", 0.5, d("Sub", 1.0, d("Abs", x)))
    return d("Mul", math.sqrt(0.5), _quantile(d, d("Mul", 0.5, x), tail))


@_in_doubles
def ErfcInv(d: _Doubles, x: str) -> str:
    """Inverse of the complementary error function."""
    p = d("Mul", 0.5, x)
    y = _quantile(d, d("Sub", p, 0.5), d("Min", p, d("Sub", 1.0, p)))
    return d("Mul", -math.sqrt(0.5), y)


#: Polynomial of u = 2 t - 1 that is log(exp(z^2) erfc(z) / t), with t = 2 / (2 + z) and z >= 0: a
#: Chebyshev interpolation of scipy.special.erfcx, of relative precision 2e-14.
_ERFCX = (
    -0.6717940840566896,
    0.6726432239778118,
    0.04734330684122317,
    -0.046895610244837446,
    -0.009872689335998,
    0.008824938914787455,
    0.0017589330134684476,
    -0.002345816824932816,
    -0.00014624174630267566,
    0.0006737078077835999,
    -9.376377908696141e-05,
    -0.00017442165023753527,
    7.150468688147764e-05,
    3.205617998958132e-05,
    -3.043752850197102e-05,
    -3.934247021990997e-07,
    8.971062196973504e-06,
    -2.3638617423987156e-06,
    -1.725521618330581e-06,
    8.600868400039707e-07,
    1.646221116297292e-07,
    -1.192184518677769e-07,
)


def _scaled_erfc(d: _Doubles, z: str) -> str:
    """Returns exp(z^2) erfc(z) of numbers that are not negative."""
    t = d("Div", 2.0, d("Add", 2.0, z))
    u = d("Sub", d("Mul", 2.0, t), 1.0)
    return d("Mul", t, d("Exp", d.polynomial(u, _ERFCX)))


@_in_doubles
def Erfcx(d: _Doubles, x: str) -> str:
    """The complementary error function times exp(x^2)."""
    positive = _scaled_erfc(d, d("Abs", x))
    negative = d("Sub", d("Mul", 2.0, d("Exp", d("Mul", x, x))), positive)
    return d("Where", d("Less", x, 0.0), negative, positive)


@_in_doubles
def LogNdtr(d: _Doubles, x: str) -> str:
    """Logarithm of the distribution function of the normal distribution."""
    # The logarithm of the tail, which is below or above x.
    half_square = d("Mul", 0.5, d("Mul", x, x))
    scaled = _scaled_erfc(d, d("Mul", math.sqrt(0.5), d("Abs", x)))
    log_tail = d("Sub", d("Log", d("Mul", 0.5, scaled)), half_square)
    tail = d("Exp", log_tail)
    # log(1 - tail) loses the digits of a small tail: then it is -tail (1 + tail / 2).
    small = d("Neg", d("Mul", tail, d("Add", 1.0, d("Mul", 0.5, tail))))
    above = d("Where", d("Less", tail, 1e-6), small, d("Log", d("Sub", 1.0, tail)))
    return d("Where", d("Less", x, 0.0), log_tail, above)


@rule()
def FFT(g: Nodes, real: str, imag: str) -> tuple[str, str]:
    """Fourier transform along the last axis."""
    g.require_opset(17)
    n = g.ndim()
    parts = [g.unsqueeze(x, [n]) for x in (real, imag)]
    x = g("Concat", *parts, axis=n)
    length = g.shape()[-1]
    # One axis of signals, one of times, one of the two parts.
    x = g("Reshape", x, g.ints([-1, length, 2]))
    inverse = int(g.func.method == "ifft")
    if g.opset >= 20:
        y = g("DFT", x, "", g.ints(1), inverse=inverse)
    else:
        y = g("DFT", x, axis=1, inverse=inverse)
    results: list[str] = []
    for part in (0, 1):
        y_part = g.gather(y, g.const(part, numpy.int64), 2)
        results.append(g.reshape(y_part, g.out_shape, g.twin_out_shape))
    return results[0], results[1]
