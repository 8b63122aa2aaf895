"""CUDA kernels of the error functions."""

from __future__ import annotations

from typing import Any

from chainer.backends.cupy.kernels._elementwise import ElementwiseKernel


class ErfKernel(ElementwiseKernel):
    """Kernel of ``erf``."""

    def forward(self, x: Any) -> Any:
        return self.map("erf_forward", x)


class ErfcKernel(ElementwiseKernel):
    """Kernel of ``erfc``."""

    def forward(self, x: Any) -> Any:
        return self.map("erfc_forward", x)
