"""The oneDNN kernel of the Gaussian error linear unit."""

from __future__ import annotations

from math import isfinite

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array

#: Values of larger numbers are the numbers themselves.
_LARGE = 10.0


class GELUKernel(IdeepKernel):
    """Kernel of ``gelu`` without approximation.

    The distribution function has an absolute error of a rounding of 1, so that values of large
    negative numbers have few digits. PyTorch's have as few.
    """

    def forward(self, x: Array, approximate: bool, save: bool) -> tuple[Array, None]:
        # Not numpy.asarray, which looks for several other protocols first.
        y = self.ops.eltwise(x, "gelu_erf").__array__()
        # oneDNN multiplies infinity by the exponential of its negative square, 0, with AVX2, and
        # doubles numbers before it halves them with AVX-512. The maximum shows that there is a NaN
        # or an infinity. It takes a third of a sum's time, and a thirtieth of the rest's.
        if not isfinite(y.max()):
            numpy.copyto(y, x, where=x > _LARGE)
        return y, None

    def backward(self, x: Array, saved: None, gy: Array, approximate: bool) -> Array:
        return self.ops.eltwise_backward(x, gy, "gelu_erf")
