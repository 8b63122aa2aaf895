"""LSTM over whole sequences: the weights are packed once, and states stay in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.backends.numpy.kernels.rnns import NStepRNNKernel as ReferenceNStepRNNKernel
from chainer.typing import Array

from chainer_numba.launching import compiled, dense, launch
from chainer_numba.linears import LinearKernel, add_rows, is_left_to_blas
from chainer_numba.lstm_cells import row_of_lstm, unit_of_lstm_gradient
from chainer_numba.lstm_steps import parts_of_rows, run_rows
from chainer_numba.products import (
    PANEL,
    aligned,
    multiply_packed,
    pack_columns,
    pack_rows,
    panels_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.backend import Backend
    from chainer.backends.numpy.kernels.rnns import CellGradients, Steps

f = numpy.float32

_NO_START = numpy.empty(0, f)


@compiled
def _gates(memory, start, stop, units):
    """Returns the gates of some packed elements, in the order of the parameters."""
    return memory[4 * start * units : 4 * stop * units].reshape(4, stop - start, units)


@compiled
def _cells(low, high, c, sources, new_c, new_h, gates):
    """Makes a step of rows ``low`` to ``high``. Sources of a gate lie one after the other."""
    units = c.shape[1]
    for row in range(low, high):
        i, k, a, o = gates[0, row], gates[1, row], gates[2, row], gates[3, row]
        source = sources[row]
        source_k, source_a, source_o = source[units:], source[2 * units :], source[3 * units :]
        # First to the gates: LLVM runs no vector code where sources might be the same memory.
        for j in range(units):
            i[j], k[j], a[j], o[j] = source[j], source_k[j], source_a[j], source_o[j]
        row_of_lstm(a, i, k, o, c[row], new_c[row], new_h[row])


@compiled
def _cell_gradients(low, high, c, new_c, gates, gc, gh, gc_before, g):
    """Makes the gradients of :func:`_cells`: of the sources and of the states before."""
    units = c.shape[1]
    for row in range(low, high):
        source, before, state, g_before = g[row], c[row], new_c[row], gc_before[row]
        gi, gk, ga, go = source[:units], source[units:], source[2 * units :], source[3 * units :]
        i, k, a, o = gates[0, row], gates[1, row], gates[2, row], gates[3, row]
        g_state, g_output = gc[row], gh[row]
        for j in range(units):
            ga[j], gi[j], gk[j], go[j], g_before[j] = unit_of_lstm_gradient(
                a[j], i[j], k[j], o[j], before[j], state[j], g_state[j], g_output[j]
            )


@compiled
def sequence(part, low, high, visits, sources, packed_U, h, c, y, cells, gates):
    """Makes all visits: pairs of the first packed element of a time and of their number.

    Sources have the products with the inputs. They and the states ``h`` and ``c`` are changed. A
    thread makes all visits of the sequences ``low`` to ``high``, and waits for no other thread.
    """
    units = c.shape[1]
    for v in range(len(visits)):
        start, stop = visits[v, 0], visits[v, 0] + visits[v, 1]
        last = min(high, stop - start)
        if last <= low:
            continue
        visited = sources[start:stop]
        own = visited[low:last]
        multiply_packed(h[low:last].reshape(-1), units, packed_U, own.reshape(-1), 4 * units, own)
        new_c, new_h = cells[start:stop], y[start:stop]
        _cells(low, last, c, visited, new_c, new_h, _gates(gates, start, stop, units))
        c[low:last] = new_c[low:last]
        h[low:last] = new_h[low:last]


@compiled
def sequence_gradient(part, low, high, visits, packed_U, gh, gc, gy, g, states, saved):
    """Makes all visits backward; writes the gradients of the sources, and the states before.

    As for :func:`sequence`, a thread makes all visits of the sequences ``low`` to ``high``.
    """
    h0, c0, previous, c_before, c_after, no_start = states
    y, cells, gates = saved
    units = gc.shape[1]
    for v in range(len(visits) - 1, -1, -1):
        start, n = visits[v, 0], visits[v, 1]
        stop, last = start + n, min(high, n)
        if last <= low:
            continue
        # Sequences up to this one were visited before; the others begin here.
        alive, origin = low, 0
        if v:
            origin = visits[v - 1, 0]
            alive = max(low, min(last, visits[v - 1, 1]))
        previous[start + low : start + alive] = y[origin + low : origin + alive]
        previous[start + alive : start + last] = h0[alive:last]
        c_before[low:alive] = cells[origin + low : origin + alive]
        c_before[alive:last] = c0[alive:last]
        sources = g[start:stop]
        if len(gy):
            for row in range(low, last):
                to, given = gh[row], gy[start + row]
                for j in range(units):
                    to[j] += given[j]
        of = _gates(gates, start, stop, units)
        _cell_gradients(low, last, c_before, cells[start:stop], of, gc, gh, c_after, sources)
        gc[low:last] = c_after[low:last]
        own = sources[low:last].reshape(-1)
        multiply_packed(own, 4 * units, packed_U, no_start, -1, gh[low:last])


def _memory(*shape: int) -> Array:
    size = 1
    for length in shape:
        size *= length
    return aligned(size).reshape(shape)


def _packed(matrix: Array, pack: Callable[[Array, Array], None]) -> Array:
    rows, columns = matrix.shape
    terms, columns = (columns, rows) if pack is pack_rows else (rows, columns)
    packed = _memory(panels_of(columns), terms, PANEL)
    pack(matrix, packed)
    return packed


def _joined(parameters: list[Array]) -> Array:
    """Returns the parameters of four gates as one array."""
    # NumPy joins transposed arrays to a transposed one, and products read rows.
    return dense(numpy.concatenate(parameters))


def _separate(joined: Array) -> list[Array]:
    """Returns the parts of the four gates."""
    return list(joined.reshape(4, -1, *joined.shape[1:]))


class LSTMCell:
    """A cell that runs over packed sequences in one direction, and back.

    Args:
        w: Weights: first of the input, then of the state.
        b: Biases, likewise.
        steps: Order of the visits.
        linear: Makes the products that do not wait for each other, on all threads.
    """

    def __init__(self, w: list[Array], b: list[Array], steps: Steps, linear: LinearKernel) -> None:
        self._linear = linear
        self._W, self._U = _joined(w[:4]), _joined(w[4:])
        self._b = _joined(b[:4]) + _joined(b[4:])
        pairs = [(elements.start, n) for elements, n in steps.slices]
        self._visits = numpy.array(pairs, numpy.intp).reshape(-1, 2)

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        """See :meth:`chainer.backends.numpy.kernels.rnns.Cell.forward`."""
        units = h.shape[1]
        self._x, self._h0, self._c0 = dense(x), dense(h), dense(c)
        h, c = self._h0.copy(), self._c0.copy()
        y, cells = numpy.empty((len(x), units), f), numpy.empty((len(x), units), f)
        gates = numpy.empty(4 * y.size, f)
        packed_U = _packed(self._U, pack_rows)
        sources = self._sources()
        arguments = self._visits, sources, packed_U, h, c, y, cells, gates
        run_rows(sequence, self._parts(), h.shape[0], *arguments)
        self._saved = y, cells, gates
        return y, h, c

    def _sources(self) -> Array:
        """Returns the products with the inputs, plus the biases."""
        x, W = self._x, self._W
        if not is_left_to_blas(len(x), x.size * len(W)):
            return self._linear.forward(x, W, self._b)
        sources = x @ W.T
        sources += self._b
        return sources

    def _parts(self) -> int:
        """Returns the number of threads among which the sequences are divided."""
        rows, units = self._h0.shape
        return parts_of_rows(len(self._visits), rows, units)

    def backward(self, gy: Array | None, gh: Array | None, gc: Array | None) -> CellGradients:
        """See :meth:`chainer.backends.numpy.kernels.rnns.Cell.backward`."""
        shape = self._h0.shape
        count, units = len(self._x), shape[1]
        gh, gc = (numpy.zeros(shape, f) if g is None else dense(g).copy() for g in (gh, gc))
        gy = numpy.empty((0, units), f) if gy is None else dense(gy)
        gb = numpy.zeros(4 * units, f)
        g, previous = numpy.empty((count, 4 * units), f), numpy.empty((count, units), f)
        packed_U = _packed(self._U, pack_columns)
        states = self._h0, self._c0, previous, _memory(*shape), _memory(*shape), _NO_START
        arguments = self._visits, packed_U, gh, gc, gy, g, states, self._saved
        run_rows(sequence_gradient, self._parts(), shape[0], *arguments)
        # A thread takes columns, so that the order of each sum does not depend on the threads.
        launch(add_rows, len(gb), g.size, g, gb)
        is_left = is_left_to_blas(len(g), g.size * self._W.shape[1])
        gx = g @ self._W if is_left else self._linear.backward_data(g, self._W)
        gW, gU = (self._linear.backward_weight(x, g, g.dtype) for x in (self._x, previous))
        # Gradients of different parameters must not share memory.
        biases = [*_separate(gb), *_separate(gb.copy())]
        return gx, gh, gc, [*_separate(gW), *_separate(gU)], biases


class NStepRNNKernel(ReferenceNStepRNNKernel):
    """Kernel of ``n_step_rnn`` for LSTM, also over sequences of different lengths."""

    packs = True

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._linear = LinearKernel(backend)

    def make_cell(self, mode: str, w: list[Array], b: list[Array], steps: Steps) -> LSTMCell:
        return LSTMCell(w, b, steps, self._linear)
