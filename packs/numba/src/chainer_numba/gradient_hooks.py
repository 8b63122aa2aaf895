"""Kernel of the gradient hooks: one pass over the gradients of all parameters.

Loops get a table of addresses, see :mod:`chainer_numba.optimizer_updates`. The loss scale is
removed, and put back, in the same pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba.arrays_in_memory import Table, vector_at
from chainer_numba.launching import compiled, config, exact, launch, summing
from chainer_numba.optimizer_updates import piece

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32

#: Parameter, gradient, and the scale of the gradient.
_Entries = Sequence[tuple[Array, Array, float | None]]

#: Elements that are added in float32, by vector instructions, before float64 takes over.
_BLOCK = 4096


@exact
def weight_decay(part, start, stop, pointers, ends, scales, rate):
    factor = f(rate)
    row, at = numpy.searchsorted(ends, start, side="right"), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        g, p = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        scale = scales[row]
        if scale == f(1):
            for i in range(high - low):
                g[i] += factor * p[i]
        else:
            for i in range(high - low):
                g[i] = (g[i] / scale + factor * p[i]) * scale
        at += high - low
        row += at == ends[row]


@exact
def lasso(part, start, stop, pointers, ends, scales, rate):
    factor = f(rate)
    row, at = numpy.searchsorted(ends, start, side="right"), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        g, p = vector_at(pointers[row, 0], low, high), vector_at(pointers[row, 1], low, high)
        scale = scales[row]
        for i in range(high - low):
            # The sign of NaN is NaN, of a zero zero.
            sign = f(1) if p[i] > 0 else (f(-1) if p[i] < 0 else p[i])
            g[i] = (g[i] / scale + factor * sign) * scale
        at += high - low
        row += at == ends[row]


@exact
def clip(part, start, stop, pointers, ends, smallest, largest):
    lowest, highest = f(smallest), f(largest)
    row, at = numpy.searchsorted(ends, start, side="right"), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        g = vector_at(pointers[row, 0], low, high)
        for i in range(high - low):
            # NaN passes: a comparison with it is false.
            value = lowest if g[i] < lowest else g[i]
            g[i] = highest if value > highest else value
        at += high - low
        row += at == ends[row]


@exact
def multiply(part, start, stop, pointers, ends, rate):
    factor = f(rate)
    row, at = numpy.searchsorted(ends, start, side="right"), start
    while at < stop:
        low, high = piece(pointers, ends, row, at, stop)
        g = vector_at(pointers[row, 0], low, high)
        for i in range(high - low):
            g[i] *= factor
        at += high - low
        row += at == ends[row]


@summing
def _squares(g):
    total = f(0)
    for i in range(g.size):
        total += g[i] * g[i]
    return total


@compiled
def sum_of_squares(part, start, stop, pointers, ends, sums):
    row, at = numpy.searchsorted(ends, start, side="right"), start
    total = 0.0
    while at < stop:
        # Not piece(): the order of a sum must not depend on where the array is in memory.
        before = ends[row - 1] if row > 0 else 0
        low, high = at - before, min(stop, ends[row], at + _BLOCK) - before
        total += _squares(vector_at(pointers[row, 0], low, high))
        at += high - low
        row += at == ends[row]
    sums[part] = total


class GradientHooksKernel:
    """Kernel of ``gradient_hooks``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def weight_decay(self, entries: _Entries, rate: float) -> None:
        """Adds multiples of parameters to their gradients."""
        self._add(weight_decay, entries, rate)

    def lasso(self, entries: _Entries, rate: float) -> None:
        """Adds multiples of the signs of parameters to their gradients."""
        self._add(lasso, entries, rate)

    def _add(self, loop: Any, entries: _Entries, rate: float) -> None:
        table = Table([(grad, param) for param, grad, _ in entries])
        scales = numpy.array([1.0 if s is None else s for _, _, s in entries], f)
        self._run(loop, table, scales, float(rate))

    def clip(self, grads: Sequence[Array], low: float, high: float) -> None:
        """Limits every element to an interval."""
        self._run(clip, Table([(grad,) for grad in grads]), float(low), float(high))

    def scale(self, grads: Sequence[Array], factor: Array) -> None:
        """Multiplies gradients by an array without dimensions."""
        self._run(multiply, Table([(grad,) for grad in grads]), float(factor))

    def sum_of_squares(self, grads: Sequence[Array]) -> Array:
        """Returns the sum of the squares of all elements."""
        sums = numpy.zeros(max(config.NUMBA_NUM_THREADS, 1))
        self._run(sum_of_squares, Table([(grad,) for grad in grads]), sums)
        with numpy.errstate(over="ignore"):  # infinite, as a sum in float32 would be
            return numpy.asarray(sums.sum(), f)

    def _run(self, loop: Any, table: Table, *arguments: Any) -> None:
        total = int(table.ends[-1])
        launch(loop, total, total, table.pointers, table.ends, *arguments)
