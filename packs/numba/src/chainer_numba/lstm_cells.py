"""Kernel of LSTM cells: each step is one pass over memory, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.launching import compiled, dense, launch, result

f = numpy.float32
_ZERO, _ONE = f(0), f(1)

#: Time of a unit, with its five exponentials, in units of a pass over memory.
COST = 20


@compiled
def lstm(part, start, stop, c_prev, x, c, h, gates):
    for row in range(start, stop):
        for j in range(c_prev.shape[1]):
            a = vector_math.tanh(x[row, j, 0])
            i = vector_math.sigmoid(x[row, j, 1])
            k = vector_math.sigmoid(x[row, j, 2])
            o = vector_math.sigmoid(x[row, j, 3])
            gates[0, row, j] = a
            gates[1, row, j] = i
            gates[2, row, j] = k
            gates[3, row, j] = o
            state = a * i + c_prev[row, j] * k
            c[row, j] = state
            h[row, j] = vector_math.tanh(state) * o


@compiled
def lstm_gradient(part, start, stop, c_prev, c, gates, gc, gh, gc_prev, gx):
    for row in range(start, stop):
        for j in range(c_prev.shape[1]):
            a, i, k, o = gates[0, row, j], gates[1, row, j], gates[2, row, j], gates[3, row, j]
            t = vector_math.tanh(c[row, j])
            # An array without elements represents zeros.
            g_h = gh[row, j] if gh.size else _ZERO
            total = g_h * o * (_ONE - t * t)
            if gc.size:
                total += gc[row, j]
            gx[row, j, 0] = total * i * (_ONE - a * a)
            gx[row, j, 1] = total * a * i * (_ONE - i)
            gx[row, j, 2] = total * c_prev[row, j] * k * (_ONE - k)
            gx[row, j, 3] = g_h * t * o * (_ONE - o)
            gc_prev[row, j] = total * k


class LSTMCellKernel:
    """Kernel of ``lstm_cell`` for states of two dimensions.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Any) -> None:
        pass

    def forward(self, c_prev: Array, x: Array) -> tuple[Array, Array, Array]:
        shape = c_prev.shape
        c, h, gates = numpy.empty(shape, f), numpy.empty(shape, f), numpy.empty((4, *shape), f)
        arrays = dense(c_prev), dense(x).reshape(*shape, 4), c, h, gates
        launch(lstm, shape[0], c.size * COST, *arrays)
        return result(c, c_prev), result(h, c_prev), gates

    def backward(
        self, c_prev: Array, x: Array, c: Array, saved: Array, gc: Array | None, gh: Array | None
    ) -> tuple[Array, Array]:
        shape = c_prev.shape
        gc_prev, gx = numpy.empty(shape, f), numpy.empty((*shape, 4), f)
        nothing = numpy.empty((0, 0), f)
        gradients = (nothing if g is None else dense(g) for g in (gc, gh))
        arrays = dense(c_prev), dense(c), saved, *gradients, gc_prev, gx
        launch(lstm_gradient, shape[0], c.size * COST, *arrays)
        return result(gc_prev, c_prev), result(gx, x)
