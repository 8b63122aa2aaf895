"""Kernel of dropout: mask and output in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.typing import Array

from chainer_numba.launching import compiled, flat, result

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32

#: Random numbers drawn at a time; 128 kB of float64.
BLOCK = 1 << 14


@compiled
def dropout(part, start, stop, x, random, y, mask, ratio, scale):
    factor = f(scale)
    x, random, y, mask = x[start:stop], random[start:stop], y[start:stop], mask[start:stop]
    for i in range(len(x)):
        mask[i] = factor if random[i] >= ratio else f(0)
        # A product, so that a dropped infinity becomes NaN as in the reference.
        y[i] = x[i] * mask[i]


class DropoutKernel:
    """Kernel of ``dropout``.

    Args:
        backend: Backend of the arrays, whose random numbers are drawn.
    """

    def __init__(self, backend: Backend) -> None:
        self._random = backend.xp.random

    def forward(self, x: Array, ratio: float) -> tuple[Array, Array]:
        # Two allocations: the mask is kept, and must not keep the output.
        y, mask, source = numpy.empty(x.size, f), numpy.empty(x.size, f), flat(x)
        numbers = float(ratio), float(x.dtype.type(1.0 / (1 - ratio)))
        # The generator gives the same numbers in blocks as at once, so that a seed gives the masks
        # of the reference. An array of all numbers would be twice the size of the input.
        for first in range(0, x.size, BLOCK):
            block = slice(first, min(first + BLOCK, x.size))
            random = self._random.rand(block.stop - block.start)
            dropout(0, 0, len(random), source[block], random, y[block], mask[block], *numbers)
            del random  # before the next ones are drawn
        return result(y, x), result(mask, x)

    def backward(self, gy: Array, mask: Array) -> Array:
        # One pass already: nothing to gain.
        return gy * mask
