"""CUDA kernel of dropout."""

from __future__ import annotations

import numpy

from chainer.backends.cupy.kernels._elementwise import ElementwiseKernel, element_types
from chainer.core.typing import Array


class DropoutKernel(ElementwiseKernel):
    """Kernel of ``dropout``: random numbers of the backend, then mask and product at once."""

    def forward(self, x: Array, ratio: float) -> tuple[Array, Array]:
        x = self.contiguous(x)
        numbers = self.xp.random.random_sample(x.shape, dtype=numpy.float32)
        y, mask = self.new_like(x), self.new_like(x)
        ratio = float(ratio)
        scale = 1.0 / (1 - ratio)
        self.each("dropout_forward", element_types(x), x.size, x, numbers, y, mask, ratio, scale)
        return y, mask

    def backward(self, gy: Array, mask: Array) -> Array:
        return gy * mask
