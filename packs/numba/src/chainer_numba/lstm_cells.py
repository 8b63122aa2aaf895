"""Kernel of LSTM cells: each step is one pass over memory, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.launching import compiled, dense, launch, result

f = numpy.float32
unsigned = numpy.uintp
_ZERO, _ONE = f(0), f(1)

#: Time of a unit, with its five exponentials, in units of a pass over memory.
COST = 20


@compiled
def lstm(part, start, stop, c_prev, x, c, h, gates):
    for row in range(start, stop):
        sources, before, state, output = x[row], c_prev[row], c[row], h[row]
        gate_a, gate_i, gate_f, gate_o = gates[0, row], gates[1, row], gates[2, row], gates[3, row]
        for j in range(len(before)):
            # Unsigned: a signed index may be negative, and count from the end.
            first = unsigned(4 * j)
            a = vector_math.tanh(sources[first])
            i = vector_math.sigmoid(sources[unsigned(4 * j + 1)])
            k = vector_math.sigmoid(sources[unsigned(4 * j + 2)])
            o = vector_math.sigmoid(sources[unsigned(4 * j + 3)])
            gate_a[j] = a
            gate_i[j] = i
            gate_f[j] = k
            gate_o[j] = o
            now = a * i + before[j] * k
            state[j] = now
            output[j] = vector_math.tanh(now) * o


@compiled
def lstm_gradient(part, start, stop, c_prev, c, gates, gc, gh, gc_prev, gx):
    for row in range(start, stop):
        sources, before, state = gx[row], c_prev[row], c[row]
        gate_a, gate_i, gate_f, gate_o = gates[0, row], gates[1, row], gates[2, row], gates[3, row]
        g_state, g_output, g_before = gc[row], gh[row], gc_prev[row]
        for j in range(len(before)):
            a, i, k, o = gate_a[j], gate_i[j], gate_f[j], gate_o[j]
            t = vector_math.tanh(state[j])
            total = g_output[j] * o * (_ONE - t * t) + g_state[j]
            sources[unsigned(4 * j)] = total * i * (_ONE - a * a)
            sources[unsigned(4 * j + 1)] = total * a * i * (_ONE - i)
            sources[unsigned(4 * j + 2)] = total * before[j] * k * (_ONE - k)
            sources[unsigned(4 * j + 3)] = g_output[j] * t * o * (_ONE - o)
            g_before[j] = total * k


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
        arrays = dense(c_prev), dense(x), c, h, gates
        launch(lstm, shape[0], c.size * COST, *arrays)
        return result(c, c_prev), result(h, c_prev), gates

    def backward(
        self, c_prev: Array, x: Array, c: Array, saved: Array, gc: Array | None, gh: Array | None
    ) -> tuple[Array, Array]:
        shape = c_prev.shape
        gc_prev, gx = numpy.empty(shape, f), numpy.empty(x.shape, f)
        gradients = (numpy.zeros(shape, f) if g is None else dense(g) for g in (gc, gh))
        arrays = dense(c_prev), dense(c), saved, *gradients, gc_prev, gx
        launch(lstm_gradient, shape[0], c.size * COST, *arrays)
        return result(gc_prev, c_prev), result(gx, x)
