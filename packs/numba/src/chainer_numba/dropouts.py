"""Kernel of dropout: mask and output in one pass."""

from __future__ import annotations

from typing import Any

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, flat, launch, result

f = numpy.float32


@compiled
def dropout(part, start, stop, x, random, y, mask, ratio, scale):
    factor = f(scale)
    for i in range(start, stop):
        mask[i] = factor if random[i] >= ratio else f(0)
        # A product, so that a dropped infinity becomes NaN as in the reference.
        y[i] = x[i] * mask[i]


@compiled
def product(part, start, stop, a, b, y):
    for i in range(start, stop):
        y[i] = a[i] * b[i]


class DropoutKernel:
    """Kernel of ``dropout``.

    Args:
        backend: Backend of the arrays, whose random numbers are drawn.
    """

    def __init__(self, backend: Any) -> None:
        self._random = backend.xp.random

    def forward(self, x: Array, ratio: float) -> tuple[Array, Array]:
        # The same call as that of the reference, so that a seed gives the same masks.
        random = numpy.asarray(self._random.rand(*x.shape)).reshape(-1)
        # Two allocations: the mask is kept, and must not keep the output.
        y, mask = numpy.empty(x.size, f), numpy.empty(x.size, f)
        numbers = float(ratio), float(x.dtype.type(1.0 / (1 - ratio)))
        launch(dropout, x.size, x.size, flat(x), random, y, mask, *numbers)
        return result(y, x), result(mask, x)

    def backward(self, gy: Array, mask: Array) -> Array:
        gx = numpy.empty(gy.size, f)
        launch(product, gy.size, gy.size, flat(gy), flat(mask), gx)
        return result(gx, gy)
