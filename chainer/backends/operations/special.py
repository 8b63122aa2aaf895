"""Special functions."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation

_REFERENCE = "chainer.backends.numpy.kernels.special"


class SpecialFunction(Operation):
    """Base of the operations that are elementwise functions of one array.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: values of the shape and dtype of ``x``. 16-bit types are computed in
        float32.
    """

    methods = ("forward",)


class Erf(SpecialFunction):
    """Error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise error function, of the shape and dtype of ``x``.
    """

    name = "erf"
    reference = f"{_REFERENCE}:ErfKernel"


class Erfc(SpecialFunction):
    """Complementary error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``1 - erf(x)``, of the shape and dtype of ``x``.
    """

    name = "erfc"
    reference = f"{_REFERENCE}:ErfcKernel"


class Erfcx(SpecialFunction):
    """Scaled complementary error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``exp(x ** 2) * erfc(x)``, finite for large ``x``, of the
        shape and dtype of ``x``.
    """

    name = "erfcx"
    reference = f"{_REFERENCE}:ErfcxKernel"


class ErfInv(SpecialFunction):
    """Inverse of the error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``y`` with ``erf(y) == x``, of the shape and dtype of
        ``x``. Infinite at -1 and 1, not a number outside.
    """

    name = "erfinv"
    reference = f"{_REFERENCE}:ErfInvKernel"


class ErfcInv(SpecialFunction):
    """Inverse of the complementary error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``y`` with ``erfc(y) == x``, of the shape and dtype of
        ``x``. Infinite at 0 and 2, not a number outside.
    """

    name = "erfcinv"
    reference = f"{_REFERENCE}:ErfcInvKernel"


class Ndtr(SpecialFunction):
    """Cumulative distribution function of the standard normal distribution.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise probability of values below ``x``, of the shape and dtype
        of ``x``.
    """

    name = "ndtr"
    reference = f"{_REFERENCE}:NdtrKernel"


class LogNdtr(SpecialFunction):
    """Logarithm of the cumulative distribution function of the standard normal distribution.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``log(ndtr(x))``, accurate where ``ndtr(x)`` underflows, of
        the shape and dtype of ``x``.
    """

    name = "log_ndtr"
    reference = f"{_REFERENCE}:LogNdtrKernel"


class Ndtri(SpecialFunction):
    """Inverse of the cumulative distribution function of the standard normal distribution.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``y`` with ``ndtr(y) == x``, of the shape and dtype of
        ``x``. Infinite at 0 and 1, not a number outside.
    """

    name = "ndtri"
    reference = f"{_REFERENCE}:NdtriKernel"


class LGamma(SpecialFunction):
    """Logarithm of the absolute value of the gamma function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``log(abs(gamma(x)))``, of the shape and dtype of ``x``.
        Infinite at 0 and negative integers.
    """

    name = "lgamma"
    reference = f"{_REFERENCE}:LGammaKernel"


class DiGamma(SpecialFunction):
    """Digamma function, the derivative of ``lgamma``.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise digamma function, of the shape and dtype of ``x``. Infinite
        at 0, not a number at negative integers.
    """

    name = "digamma"
    reference = f"{_REFERENCE}:DiGammaKernel"


class PolyGamma(Operation):
    """Derivatives of the digamma function.

    ``select(n, x)``: ``n`` an integer array, ``x`` floating point; their shapes are broadcast.

    Methods:
        ``forward(n, x) -> y``: elementwise ``n``-th derivative of ``digamma`` at ``x``, of the
        dtype of ``x`` and the shape to which ``n`` and ``x`` are broadcast. Not a number for
        negative ``n``.
    """

    name = "polygamma"
    methods = ("forward",)
    reference = f"{_REFERENCE}:PolyGammaKernel"


class Zeta(Operation):
    """Hurwitz zeta function.

    ``select(q)``: ``q`` of any shape, floating point.

    Methods:
        ``forward(x, q) -> y``: elementwise sum of ``(k + q) ** -x`` over ``k`` from 0. ``x`` is a
        number or an array whose shape broadcasts with ``q``. The result has the dtype of ``q``.
    """

    name = "zeta"
    methods = ("forward",)
    reference = f"{_REFERENCE}:ZetaKernel"


erf = Erf()
erfc = Erfc()
erfcx = Erfcx()
erfinv = ErfInv()
erfcinv = ErfcInv()
ndtr = Ndtr()
log_ndtr = LogNdtr()
ndtri = Ndtri()
lgamma = LGamma()
digamma = DiGamma()
polygamma = PolyGamma()
zeta = Zeta()
