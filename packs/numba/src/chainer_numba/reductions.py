"""Kernel of sums over axes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy
from chainer.kernel import get_operation
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch, summing

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ZERO = f(0)

#: Elements that are added in float32 before the sum goes on in float64.
BLOCK = 4096


@summing
def sum_rows(part, start, stop, x, y):
    for row in range(start, stop):
        total = 0.0
        for first in range(0, x.shape[1], BLOCK):
            block = _ZERO
            # A slice: an index that may be negative would not be vectorized.
            values = x[row, first : first + BLOCK]
            for i in range(len(values)):
                block += values[i]
            total += block
        y[row] = f(total)


#: Columns that are added together.
COLUMNS = 256

#: Elements behind the axes, and float16 elements of a row, from which on NumPy is as fast.
MAX_INNER, MAX_HALVES = 64, 64


@compiled
def sum_columns(part, start, stop, x, y):
    """Adds the middle axis of ``(outer, axis, inner)``; ``start`` and ``stop`` count blocks."""
    _, length, inner = x.shape
    blocks = -(-inner // COLUMNS)
    totals = numpy.empty(COLUMNS, numpy.float64)
    for number in range(start, stop):
        row, first = number // blocks, number % blocks * COLUMNS
        n = min(COLUMNS, inner - first)
        for i in range(n):
            totals[i] = 0.0
        for k in range(length):
            values = x[row, k, first : first + COLUMNS]
            for i in range(len(values)):
                totals[i] += values[i]
        for i in range(n):
            y[row, first + i] = f(totals[i])


def _faster(x: Array, length: int, inner: int) -> bool:
    """Returns whether a sum over the middle of ``(outer, length, inner)`` is faster (measured)."""
    if length < 2:
        return False
    if inner > 1:
        # NumPy adds long rows to each other as fast as memory allows, except of float16.
        return x.dtype != f or inner <= MAX_INNER
    # NumPy converts float16 in pieces, this kernel before it begins.
    return x.dtype == f or length <= MAX_HALVES


class AxesSumKernel:
    """Kernel of ``axes_sum`` for sums in which NumPy is slow; others by the reference.

    The axes are known only when the method is called.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self._reference = get_operation("axes_sum").reference_for(backend)

    def forward(self, x: Array, axis: Any, keepdims: bool) -> Array:
        axes = _sorted_axes(x.ndim, axis)
        if not axes or axes[-1] - axes[0] != len(axes) - 1 or not x.flags.c_contiguous:
            return self._reference.forward(x, axis, keepdims)
        first, last = axes[0], axes[-1] + 1
        outer, length = prod(x.shape[:first]), prod(x.shape[first:last])
        inner = prod(x.shape[last:])
        if not _faster(x, length, inner):
            return self._reference.forward(x, axis, keepdims)
        y = numpy.empty((outer, inner), f)
        if inner == 1:
            launch(sum_rows, outer, x.size, dense(x).reshape(outer, length), y.reshape(-1))
        else:
            blocks = outer * -(-inner // COLUMNS)
            launch(sum_columns, blocks, x.size, dense(x).reshape(outer, length, inner), y)
        kept = (1,) * len(axes) if keepdims else ()
        shape = x.shape[:first] + kept + x.shape[last:]
        return y.reshape(shape).astype(x.dtype, copy=False)


def _sorted_axes(ndim: int, axis: Any) -> list[int]:
    if axis is None:
        return list(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return sorted(a % ndim for a in axes)
