"""Reference kernels of special functions: SciPy's, and three that do without SciPy."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import ClassVar

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.installation import install_command
from chainer.core.typing import Array, ArrayLike
from chainer.core.utils import installed
from chainer.core.warnings import PerformanceWarning

#: Functions that the standard library can compute, an element at a time.
_BY_ELEMENT: dict[str, Callable[[float], float]] = {
    "erf": math.erf,
    "erfc": math.erfc,
    "ndtr": lambda x: 0.5 * math.erfc(-x * math.sqrt(0.5)),
}


@cache
def _has_scipy() -> bool:
    return installed.is_installed("scipy")


def host_function(name: str, scipy_name: str) -> Callable[..., Array]:
    """Returns a special function of NumPy arrays.

    Args:
        name: Name of the operation.
        scipy_name: Name of the function in ``scipy.special``.

    Raises:
        ImportError: If it needs SciPy, which is not installed.
    """
    if _has_scipy():
        return getattr(importlib.import_module("scipy.special"), scipy_name)
    function = _BY_ELEMENT.get(name)
    if function is None:
        raise ImportError(
            f"SciPy is not available; {name} needs it: {install_command('chainer[scipy]')}"
        )
    warnings.warn(
        f"SciPy is not available: {name} is computed one element at a time, which is slow. "
        + install_command("chainer[scipy]"),
        PerformanceWarning,
    )
    return numpy.vectorize(function, otypes=[float])


class SpecialKernel(ReferenceKernel):
    """An elementwise function whose last argument decides about the dtype of the result.

    Attributes:
        name: Name of the operation.
        scipy_name: Name of the function in ``scipy.special``; the operation's name if not set.
    """

    name: ClassVar[str]
    scipy_name: ClassVar[str] = ""

    def forward(self, *arguments: ArrayLike) -> Array:
        native = getattr(self.xp, self.name, None)
        if native is not None:
            return native(*arguments)
        # SciPy works on host memory: other arrays travel there and back.
        x: Array = arguments[-1]
        function = host_function(self.name, self.scipy_name or self.name)
        y = numpy.asarray(function(*[self._host(argument) for argument in arguments]))
        return self.backend.from_host(y.astype(x.dtype, copy=False), self.backend.device_of(x))

    def _host(self, argument: ArrayLike) -> ArrayLike:
        if not hasattr(argument, "dtype"):
            return argument
        host = self.backend.to_host(argument)
        # SciPy has no functions for bfloat16, and computes float16 in float32 anyway.
        return host.astype(numpy.float32) if is_half(host.dtype) else host


class ErfKernel(SpecialKernel):
    """Error function."""

    name = "erf"


class ErfcKernel(SpecialKernel):
    """Complementary error function."""

    name = "erfc"


class ErfcxKernel(SpecialKernel):
    """Scaled complementary error function."""

    name = "erfcx"


class ErfInvKernel(SpecialKernel):
    """Inverse of the error function."""

    name = "erfinv"


class ErfcInvKernel(SpecialKernel):
    """Inverse of the complementary error function."""

    name = "erfcinv"


class NdtrKernel(SpecialKernel):
    """Cumulative distribution function of the standard normal distribution."""

    name = "ndtr"


class LogNdtrKernel(SpecialKernel):
    """Logarithm of the cumulative distribution function of the standard normal distribution."""

    name = "log_ndtr"


class NdtriKernel(SpecialKernel):
    """Inverse of the cumulative distribution function of the standard normal distribution."""

    name = "ndtri"


class LGammaKernel(SpecialKernel):
    """Logarithm of the absolute value of the gamma function."""

    name = "lgamma"
    scipy_name = "gammaln"


class DiGammaKernel(SpecialKernel):
    """Digamma function."""

    name = "digamma"


#: Largest order of polygamma whose factor, the factorial, is exact in float32 arithmetic or nearly
#: so, and far from the largest number.
_LARGEST_ORDER = 20


class PolyGammaKernel(SpecialKernel):
    """Derivatives of the digamma function."""

    name = "polygamma"

    def forward(self, n: ArrayLike, x: Array) -> Array:  # type: ignore[override]
        order = int(n) if self.xp is numpy and numpy.ndim(n) == 0 and _has_scipy() else 0
        if not 0 < order <= _LARGEST_ORDER:
            return super().forward(n, x)
        # SciPy's polygamma does the same for one order, but makes five arrays in double precision.
        y = host_function("zeta", "zeta")(order + 1, self._host(x))
        y = numpy.asarray(y)
        y *= math.factorial(order) * (1 if order % 2 else -1)
        return y.astype(x.dtype, copy=False)


class ZetaKernel(SpecialKernel):
    """Hurwitz zeta function."""

    name = "zeta"
