"""Kernel of dropout."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel


class DropoutKernel(IdeepKernel):
    """Kernel of ``dropout`` on mdarrays; draws the random numbers that the reference draws."""

    def forward(self, x: Any, ratio: float) -> tuple[Any, Any]:
        kept = numpy.random.rand(*x.shape) >= ratio
        mask = numpy.multiply(kept, numpy.float32(1.0 / (1 - ratio)))
        # Laid out as x is: the gradient needs the mask again.
        mask = self.ops.reorder(mask, x.layout)
        return self.ops.mul(x, mask), mask

    def backward(self, gy: Any, mask: Any) -> Any:
        return self.ops.mul(gy, mask)
