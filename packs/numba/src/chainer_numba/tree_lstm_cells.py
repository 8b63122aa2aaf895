"""Kernel of LSTM cells with any number of children."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.launching import compiled, dense, launch, result
from chainer_numba.lstm_cells import COST

if TYPE_CHECKING:
    from chainer.backend import Backend

f = numpy.float32
_ONE = f(1)


@compiled
def tree_lstm(part, start, stop, cs, x, c, h, gates):
    # Blocks of x and of the gates: cell input, input gate, output gate, a forget gate per child.
    children, _, size = cs.shape
    for row in range(start, stop):
        state, output = c[row], h[row]
        sources, values = x[row, :size], gates[row, :size]
        for j in range(size):
            values[j] = vector_math.tanh(sources[j])
        sources, values = x[row, size:], gates[row, size:]
        for j in range(len(sources)):
            values[j] = vector_math.sigmoid(sources[j])
        a, i, o = gates[row, :size], gates[row, size : 2 * size], gates[row, 2 * size : 3 * size]
        for j in range(size):
            state[j] = a[j] * i[j]
        for child in range(children):
            before = cs[child, row]
            forget = gates[row, (3 + child) * size : (4 + child) * size]
            for j in range(size):
                state[j] += before[j] * forget[j]
        for j in range(size):
            output[j] = vector_math.tanh(state[j]) * o[j]


@compiled
def tree_lstm_gradient(part, start, stop, cs, c, gates, gc, gh, gcs, gx):
    children, _, size = cs.shape
    total = numpy.empty(size, f)
    for row in range(start, stop):
        state, g_state, g_output = c[row], gc[row], gh[row]
        a, i, o = gates[row, :size], gates[row, size : 2 * size], gates[row, 2 * size : 3 * size]
        ga, gi, go = gx[row, :size], gx[row, size : 2 * size], gx[row, 2 * size : 3 * size]
        for j in range(size):
            t = vector_math.tanh(state[j])
            s = g_output[j] * o[j] * (_ONE - t * t) + g_state[j]
            ga[j] = s * i[j] * (_ONE - a[j] * a[j])
            gi[j] = s * a[j] * i[j] * (_ONE - i[j])
            go[j] = g_output[j] * t * o[j] * (_ONE - o[j])
            total[j] = s
        for child in range(children):
            before, g_before = cs[child, row], gcs[child, row]
            forget = gates[row, (3 + child) * size : (4 + child) * size]
            g_forget = gx[row, (3 + child) * size : (4 + child) * size]
            for j in range(size):
                g_forget[j] = total[j] * before[j] * forget[j] * (_ONE - forget[j])
                g_before[j] = total[j] * forget[j]


class TreeLSTMCellKernel:
    """Kernel of ``tree_lstm_cell`` for states of two dimensions.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, cs: list[Array], x: Array) -> tuple[Array, Array, Array]:
        shape = cs[0].shape
        c, h, gates = numpy.empty(shape, f), numpy.empty(shape, f), numpy.empty(x.shape, f)
        launch(tree_lstm, shape[0], x.size * COST // 4, _stacked(cs), dense(x), c, h, gates)
        return result(c, cs[0]), result(h, cs[0]), gates

    def backward(
        self,
        cs: list[Array],
        x: Array,
        c: Array,
        saved: Array,
        gc: Array | None,
        gh: Array | None,
    ) -> tuple[list[Array], Array]:
        shape = cs[0].shape
        gcs, gx = numpy.empty((len(cs), *shape), f), numpy.empty(x.shape, f)
        gradients = (numpy.zeros(shape, f) if g is None else dense(g) for g in (gc, gh))
        arrays = _stacked(cs), dense(c), saved, *gradients, gcs, gx
        launch(tree_lstm_gradient, shape[0], x.size * COST // 4, *arrays)
        return [result(g, cs[0]) for g in gcs], result(gx, x)


def _stacked(cs: list[Array]) -> Array:
    # A copy, but one compiled loop serves any number of children.
    return numpy.stack(cs, dtype=f, casting="same_kind")
