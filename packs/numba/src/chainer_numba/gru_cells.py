"""Kernel of GRU cells: the products of a step, and what lies between them, in few calls.

Threads share the columns of the products. What is elementwise follows a product in the same call,
for the same columns. A product that needs all columns of another one begins another call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.launching import all_dense, compiled, launch
from chainer_numba.lstm_cells import COST
from chainer_numba.products import PANEL, panels_of, sums
from chainer_numba.vector_code import LANES

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainer.backend import Backend

    Arrays = tuple[Array, ...]

f = numpy.float32
_ONE = f(1)

#: Multiplications that take as long as an element of a cheap loop, as for LSTM.
_MULTIPLICATIONS = 4

#: Rows up to which the weights of the gradients are read where they are, as for single products.
_DIRECT_ROWS = 40


@compiled
def _column(panel, columns):
    """Returns where a panel of a product begins, see :func:`chainer_numba.products.sums`."""
    vectors, panels = -(-columns // LANES), -(-columns // PANEL)
    return min(panel * vectors // panels * LANES, columns)


@compiled
def _added(start, stop, a, b, is_transposed, packs, c):
    """Adds panels of a product to ``c``."""
    terms = a.shape[1]
    sums(
        0,
        start,
        stop,
        a.reshape(-1),
        terms,
        1,
        b,
        is_transposed,
        packs,
        c.reshape(-1),
        c.shape[1],
        c,
    )


@compiled
def gates(part, start, stop, h, x, W_r, W_z, W, U_r, U_z, b_r, b_z, b, d_r, d_z, d, r, z, a, rh):
    """Writes both gates, the part of the candidate that ``x`` makes, and ``r h``."""
    units = h.shape[1]
    biases = numpy.empty((3, units), f)
    for j in range(units):
        biases[0, j] = b_r[j] + d_r[j]
        biases[1, j] = b_z[j] + d_z[j]
        biases[2, j] = b[j] + d[j]
    inputs, terms = x.reshape(-1), x.shape[1]
    sums(0, start, stop, inputs, terms, 1, W_r, True, True, biases[0], 0, r)
    sums(0, start, stop, inputs, terms, 1, W_z, True, True, biases[1], 0, z)
    sums(0, start, stop, inputs, terms, 1, W, True, True, biases[2], 0, a)
    _added(start, stop, h, U_r, True, True, r)
    _added(start, stop, h, U_z, True, True, z)
    first, after = _column(start, h.shape[1]), _column(stop, h.shape[1])
    for row in range(len(h)):
        state, reset, update, product = (
            h[row, first:after],
            r[row, first:after],
            z[row, first:after],
            rh[row, first:after],
        )
        for j in range(len(state)):
            gate = vector_math.sigmoid(reset[j])
            reset[j] = gate
            product[j] = gate * state[j]
            update[j] = vector_math.sigmoid(update[j])


@compiled
def next_states(part, start, stop, h, rh, U, z, a, y):
    """Completes the candidate, and writes the next state."""
    _added(start, stop, rh, U, True, True, a)
    first, after = _column(start, h.shape[1]), _column(stop, h.shape[1])
    for row in range(len(h)):
        state, update, candidate, output = (
            h[row, first:after],
            z[row, first:after],
            a[row, first:after],
            y[row, first:after],
        )
        for j in range(len(state)):
            now = vector_math.tanh(candidate[j])
            candidate[j] = now
            output[j] = (_ONE - update[j]) * state[j] + update[j] * now


@compiled
def candidate_gradient(part, start, stop, h, z, a, gy, gh, sources):
    """Writes what needs no product: gradients of the update gate, the candidate and the state."""
    for row in range(start, stop):
        state, update, now, g = h[row], z[row], a[row], gy[row]
        g_state, g_update, g_now = gh[row], sources[1, row], sources[2, row]
        for j in range(len(state)):
            g_now[j] = g[j] * update[j] * (_ONE - now[j] * now[j])
            g_update[j] = g[j] * (now[j] - state[j]) * update[j] * (_ONE - update[j])
            g_state[j] = g[j] * (_ONE - update[j])


@compiled
def reset_gradient(part, start, stop, h, r, U, packs, gh, sources):
    """Writes the gradient of the reset gate, and adds to the gradient of the state."""
    own = numpy.empty((1, 1), f)[0]
    g_reset = sources[0]
    g_now = sources[2]
    sums(0, start, stop, g_now.reshape(-1), h.shape[1], 1, U, False, packs, own, -1, g_reset)
    first, after = _column(start, h.shape[1]), _column(stop, h.shape[1])
    for row in range(len(h)):
        state, reset, g_state, g = (
            h[row, first:after],
            r[row, first:after],
            gh[row, first:after],
            g_reset[row, first:after],
        )
        for j in range(len(state)):
            product = g[j]
            g_state[j] += product * reset[j]
            g[j] = product * state[j] * reset[j] * (_ONE - reset[j])


@compiled
def input_gradients(part, start, stop, sources, W_r, W_z, W, U_r, U_z, packs, gh, gx):
    """Adds to the gradient of the state, and writes the gradient of the input.

    It takes the panels ``start`` to ``stop`` of the state, and the same share of the input's.
    """
    g_reset, g_update, g_now = sources[0], sources[1], sources[2]
    units = gh.shape[1]
    _added(start, stop, g_reset, U_r, False, packs, gh)
    _added(start, stop, g_update, U_z, False, packs, gh)
    panels, count = -(-gx.shape[1] // PANEL), -(-units // PANEL)
    first, after = start * panels // count, stop * panels // count
    own = numpy.empty((1, 1), f)[0]
    sums(0, first, after, g_reset.reshape(-1), units, 1, W_r, False, packs, own, -1, gx)
    _added(first, after, g_update, W_z, False, packs, gx)
    _added(first, after, g_now, W, False, packs, gx)


@compiled
def add_to_biases(sources, b_r, b_z, b, d_r, d_z, d):
    """Adds the sums of rows to the gradients of both biases of each gate, as NumPy rounds them."""
    units = sources.shape[2]
    total = numpy.empty(units, f)
    for gate in range(3):
        first, second = (b_r, d_r) if gate == 0 else (b_z, d_z) if gate == 1 else (b, d)
        rows = sources[gate]
        total[:] = 0  # from which NumPy starts: a sum of negative zeros is positive
        for k in range(len(rows)):
            row = rows[k]
            for j in range(units):
                total[j] += row[j]
        for j in range(units):
            first[j] += total[j]
            second[j] += total[j]


class GRUCellKernel:
    """Kernel of ``gru_cell``.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, h: Array, x: Array, weights: Arrays, biases: Arrays) -> tuple[Array, Any]:
        h, x, *first, U = all_dense((h, x, *weights))
        rows, units = h.shape
        r, z, a, rh, y = numpy.empty((5, rows, units), f)
        size, panels = h.size, panels_of(units)
        elements = size * ((3 * x.shape[1] + 2 * units) // _MULTIPLICATIONS + COST)
        launch(gates, panels, elements, h, x, *first, *all_dense(biases), r, z, a, rh)
        elements = size * (units // _MULTIPLICATIONS + COST // 2)
        launch(next_states, panels, elements, h, rh, U, z, a, y)
        return y, (r, z, a, rh)

    def backward(
        self, h: Array, x: Array, weights: Arrays, saved: Any, gh: Array
    ) -> tuple[Array, Array, Array, Array]:
        h, gh, *first, U = all_dense((h, gh, *weights))
        r, z, a, rh = saved
        rows, units = h.shape
        g_h, g_x, sources = (
            numpy.empty((rows, units), f),
            numpy.empty(x.shape, f),
            numpy.empty((3, rows, units), f),
        )
        size, panels, packs = h.size, panels_of(units), rows > _DIRECT_ROWS
        launch(candidate_gradient, rows, 3 * size, h, z, a, gh, g_h, sources)
        elements = size * (units // _MULTIPLICATIONS + 3)
        launch(reset_gradient, panels, elements, h, r, U, packs, g_h, sources)
        elements = size * ((2 * units + 3 * x.shape[1]) // _MULTIPLICATIONS)
        launch(input_gradients, panels, elements, sources, *first, packs, g_h, g_x)
        return g_h, g_x, sources, rh

    def bias_gradient_sums(self, totals: Arrays) -> Callable[[Array], None] | None:
        """Returns what adds the sums of rows to the gradients of the biases.

        Args:
            totals: The six gradients.
        """
        for total in totals:
            if type(total) is not numpy.ndarray or total.dtype != f or not total.flags.carray:
                return None
        return lambda sources: add_to_biases(sources, *totals)
