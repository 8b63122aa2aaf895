"""Kernel of affine transformations: the product that BLAS computes faster, and the bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32

#: Columns of the result that are written together: a line of the cache.
TILE = 16


@compiled
def transpose_and_add(part, start, stop, product, b, y):
    whole = start + (stop - start) // TILE * TILE
    for first in range(start, whole, TILE):
        columns, bias = product[first : first + TILE], b[first : first + TILE]
        for i in range(len(y)):
            row = y[i, first : first + TILE]
            for k in range(TILE):  # a constant, so that the compiler unrolls the loop
                row[k] = columns[k, i] + bias[k]
    for i in range(len(y)):
        for k in range(whole, stop):
            y[i, k] = product[k, i] + b[k]


class LinearKernel:
    """Kernel of ``linear``.

    OpenBLAS computes ``W x^T`` faster than ``x W^T`` where there are fewer rows than columns, by up
    to a factor of two. Adding the bias is a pass over the result anyway, so it also transposes.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        reference = get_operation("linear").reference_for(backend)
        # The products of the gradients are as fast in the order of their definition.
        self.backward_data = reference.backward_data
        self.backward_weight = reference.backward_weight

    def forward(self, x: Array, W: Array, b: Array | None) -> Array:
        product = W @ x.T
        y = numpy.empty((len(x), len(W)), f)
        # A sum with negative zero is the other number, also where that is a zero.
        bias = numpy.full(len(W), -0.0, f) if b is None else dense(b)
        launch(transpose_and_add, len(W), y.size, product, bias, y)
        return y
