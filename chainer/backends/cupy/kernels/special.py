"""Special functions: CUDA kernels of the error functions, others of ``cupyx.scipy.special``."""

from __future__ import annotations

import importlib
import math
from typing import ClassVar

import numpy

from chainer.backends.cupy.kernels._elementwise import ElementwiseKernel
from chainer.core.arrays.backend import Backend
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.typing import Array, ArrayLike


class ErfKernel(ElementwiseKernel):
    """Kernel of ``erf``."""

    def forward(self, x: Array) -> Array:
        return self.map("erf_forward", x)


class ErfcKernel(ElementwiseKernel):
    """Kernel of ``erfc``."""

    def forward(self, x: Array) -> Array:
        return self.map("erfc_forward", x)


class SpecialKernel:
    """An elementwise function whose last argument decides about the dtype of the result.

    Attributes:
        function: Name of the function in ``cupyx.scipy.special``.
    """

    function: ClassVar[str]

    def __init__(self, backend: Backend) -> None:
        module = importlib.import_module("cupyx.scipy.special")
        self._function = getattr(module, self.function)

    def forward(self, *arguments: ArrayLike) -> Array:
        x = arguments[-1]
        y = self._function(*[_widened(argument) for argument in arguments])
        return y.astype(x.dtype, copy=False)


def _widened(argument: ArrayLike) -> ArrayLike:
    # CuPy has no such functions for bfloat16, and computes float16 in float32 anyway.
    dtype = getattr(argument, "dtype", None)
    if dtype is None or not is_half(dtype):
        return argument
    return argument.astype(numpy.float32)


class ErfcxKernel(SpecialKernel):
    """Kernel of ``erfcx``."""

    function = "erfcx"


class ErfInvKernel(SpecialKernel):
    """Kernel of ``erfinv``."""

    function = "erfinv"


class ErfcInvKernel(SpecialKernel):
    """Kernel of ``erfcinv``."""

    function = "erfcinv"


class NdtrKernel(SpecialKernel):
    """Kernel of ``ndtr``."""

    function = "ndtr"


class LogNdtrKernel(SpecialKernel):
    """Kernel of ``log_ndtr``."""

    function = "log_ndtr"


class NdtriKernel(SpecialKernel):
    """Kernel of ``ndtri``."""

    function = "ndtri"


class LGammaKernel(SpecialKernel):
    """Kernel of ``lgamma``."""

    function = "gammaln"


class DiGammaKernel(SpecialKernel):
    """Kernel of ``digamma``."""

    function = "digamma"


class PolyGammaKernel(SpecialKernel):
    """Kernel of ``polygamma``."""

    function = "polygamma"

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._zeta = ZetaKernel(backend)

    def forward(self, *arguments: ArrayLike) -> Array:
        n, x = arguments
        if not isinstance(n, int):
            return super().forward(n, x)
        # CuPy takes arrays only. A single order, as the gradient of digamma has it, need not be
        # sent to the device: the function is a multiple of zeta (DLMF 25.11.12).
        if n < 1:
            raise ValueError(f"a single order n must be positive, got {n}")
        y = self._zeta.forward(float(n + 1), x)
        y *= (-1) ** (n + 1) * math.factorial(n)
        return y


class ZetaKernel(SpecialKernel):
    """Kernel of ``zeta``."""

    function = "zeta"
