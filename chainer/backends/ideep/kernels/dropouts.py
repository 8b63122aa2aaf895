"""oneDNN kernel of dropout."""

from __future__ import annotations

import numpy

from chainer.backends.ideep.kernels._base import IdeepKernel
from chainer.core.typing import Array


class DropoutKernel(IdeepKernel):
    """Kernel of ``dropout`` on mdarrays; draws the random numbers that the reference draws."""

    def forward(self, x: Array, ratio: float) -> tuple[Array, Array]:
        kept = numpy.random.rand(*x.shape) >= ratio
        mask = numpy.multiply(kept, numpy.float32(1.0 / (1 - ratio)))
        # In the layout of x, so that neither of the two products converts it.
        mask = self.ops.reorder(mask, x.layout)
        return self.ops.mul(x, mask), mask

    def backward(self, gy: Array, mask: Array) -> Array:
        return self.ops.mul(gy, mask)
