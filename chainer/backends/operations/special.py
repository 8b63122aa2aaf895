"""Special functions."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation


class Erf(Operation):
    """Error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise error function, of the shape and dtype of ``x``.
    """

    name = "erf"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.special:ErfKernel"


class Erfc(Operation):
    """Complementary error function.

    ``select(x)``: ``x`` of any shape, floating point.

    Methods:
        ``forward(x) -> y``: elementwise ``1 - erf(x)``, of the shape and dtype of ``x``.
    """

    name = "erfc"
    methods = ("forward",)
    reference = "chainer.backends.numpy.kernels.special:ErfcKernel"


erf = Erf()
erfc = Erfc()
