"""Reference kernels of special functions: SciPy's where there is SciPy, else by element."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy

from chainer.core.arrays.kernel import ReferenceKernel


@cache
def _host_function(name: str) -> Callable[[Any], Any]:
    if importlib.util.find_spec("scipy") is not None:
        return getattr(importlib.import_module("scipy.special"), name)
    return numpy.vectorize(getattr(math, name), otypes=[float])


class _SpecialKernel(ReferenceKernel):
    function: ClassVar[str]

    def forward(self, x: Any) -> Any:
        native = getattr(self.xp, self.function, None)
        if native is not None:
            return native(x)
        host = self.backend.to_host(x)
        y = numpy.asarray(_host_function(self.function)(host)).astype(host.dtype, copy=False)
        return self.backend.from_host(y.reshape(host.shape), self.backend.device_of(x))


class ErfKernel(_SpecialKernel):
    """Error function."""

    function = "erf"


class ErfcKernel(_SpecialKernel):
    """Complementary error function."""

    function = "erfc"
