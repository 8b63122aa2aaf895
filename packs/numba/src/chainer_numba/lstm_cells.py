"""Kernels of LSTM cells: each step is one pass over memory, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from chainer.kernel import Recurrence, StepCall
from chainer.typing import Array

from chainer_numba import vector_math
from chainer_numba.launching import all_dense, compiled, dense, launch, result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chainer.backend import Backend
    from chainer.kernel import ArraySpec

f = numpy.float32
unsigned = numpy.uintp
_ZERO, _ONE = f(0), f(1)

#: Time of a unit, with its five exponentials, in units of a pass over memory.
COST = 20


@compiled
def row_of_lstm(gate_a, gate_i, gate_f, gate_o, before, state, output):
    """Writes the gates of a row over their sources, the new states and the outputs."""
    for j in range(len(before)):
        a = vector_math.tanh(gate_a[j])
        i = vector_math.sigmoid(gate_i[j])
        k = vector_math.sigmoid(gate_f[j])
        o = vector_math.sigmoid(gate_o[j])
        gate_a[j] = a
        gate_i[j] = i
        gate_f[j] = k
        gate_o[j] = o
        now = a * i + before[j] * k
        state[j] = now
        output[j] = vector_math.tanh(now) * o


@compiled
def unit_of_lstm_gradient(a, i, k, o, before, now, g_state, g_output):
    """Returns the gradients of the sources of a unit's gates, then of its state before."""
    t = vector_math.tanh(now)
    total = g_output * o * (_ONE - t * t) + g_state
    return (
        total * i * (_ONE - a * a),
        total * a * i * (_ONE - i),
        total * before * k * (_ONE - k),
        g_output * t * o * (_ONE - o),
        total * k,
    )


@compiled
def lstm(part, start, stop, c_prev, x, c, h, gates):
    for row in range(start, stop):
        sources, before, state, output = x[row], c_prev[row], c[row], h[row]
        gate_a, gate_i, gate_f, gate_o = gates[0, row], gates[1, row], gates[2, row], gates[3, row]
        # First to the gates: vectors of neighbors are computed faster than every fourth number.
        for j in range(len(before)):
            # Unsigned: a signed index may be negative, and count from the end.
            gate_a[j] = sources[unsigned(4 * j)]
            gate_i[j] = sources[unsigned(4 * j + 1)]
            gate_f[j] = sources[unsigned(4 * j + 2)]
            gate_o[j] = sources[unsigned(4 * j + 3)]
        row_of_lstm(gate_a, gate_i, gate_f, gate_o, before, state, output)


@compiled
def lstm_gradient(part, start, stop, c_prev, c, gates, gc, gh, gc_prev, gx):
    for row in range(start, stop):
        sources, before, state = gx[row], c_prev[row], c[row]
        gate_a, gate_i, gate_f, gate_o = gates[0, row], gates[1, row], gates[2, row], gates[3, row]
        g_state, g_output, g_before = gc[row], gh[row], gc_prev[row]
        for j in range(len(before)):
            a, i, k, o = gate_a[j], gate_i[j], gate_f[j], gate_o[j]
            ga, gi, gk, go, g_before[j] = unit_of_lstm_gradient(
                a, i, k, o, before[j], state[j], g_state[j], g_output[j]
            )
            sources[unsigned(4 * j)] = ga
            sources[unsigned(4 * j + 1)] = gi
            sources[unsigned(4 * j + 2)] = gk
            sources[unsigned(4 * j + 3)] = go


class LSTMCellKernel:
    """Kernel of ``lstm_cell`` for states of two dimensions.

    A captured step that is written cell by cell makes all cells of a layer in one call.

    Args:
        backend: Backend of the arrays.
    """

    recurrences = (
        Recurrence(
            calls=(
                StepCall("linear.forward", ("h", "W", None), "product"),
                StepCall("numpy.add", ("x", "product"), "sources"),
                StepCall("lstm_cell.forward", ("c", "sources"), ("new_c", "new_h", "gates")),
            ),
            carried={"new_c": "c", "new_h": "h"},
            fixed=("W",),
            results=("sources", "new_c", "new_h", "gates"),
            method="forward_steps",
            supports="supports_steps",
        ),
        Recurrence(
            calls=(
                StepCall("linear.backward_data", ("gx", "W"), "product"),
                StepCall("numpy.add", ("gy", "product"), "gh"),
                StepCall(
                    "lstm_cell.backward",
                    ("c", "_", "new_c", "gates", "gc", "gh"),
                    ("new_gc", "new_gx"),
                ),
            ),
            carried={"new_gc": "gc", "new_gx": "gx"},
            fixed=("W",),
            results=("new_gc", "new_gx"),
            method="backward_steps",
            supports="supports_steps",
        ),
    )

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, c_prev: Array, x: Array) -> tuple[Array, Array, Array]:
        shape = c_prev.shape
        c, h, gates = numpy.empty(shape, f), numpy.empty(shape, f), numpy.empty((4, *shape), f)
        launch(lstm, shape[0], c.size * COST, *all_dense((c_prev, x)), c, h, gates)
        if c_prev.dtype == f:
            return c, h, gates
        return result(c, c_prev), result(h, c_prev), gates

    def backward(
        self, c_prev: Array, x: Array, c: Array, saved: Array, gc: Array | None, gh: Array | None
    ) -> tuple[Array, Array]:
        shape = c_prev.shape
        gc_prev, gx = numpy.empty(shape, f), numpy.empty(x.shape, f)
        if gc is None:
            gc = numpy.zeros(shape, f)
        if gh is None:
            gh = numpy.zeros(shape, f)
        before, now, gc, gh = all_dense((c_prev, c, gc, gh))
        launch(lstm_gradient, shape[0], c.size * COST, before, now, saved, gc, gh, gc_prev, gx)
        if c_prev.dtype == x.dtype == f:
            return gc_prev, gx
        return result(gc_prev, c_prev), result(gx, x)

    def supports_steps(self, steps: Mapping[str, Sequence[ArraySpec | None]]) -> bool:
        """Returns whether all steps are made in one call."""
        from chainer_numba import lstm_steps

        return lstm_steps.are_suitable(steps)

    def forward_steps(self, steps: Mapping[str, Sequence[Array | None]]) -> Callable[[], None]:
        """Returns a function that makes all steps, see :attr:`recurrences`."""
        from chainer_numba import lstm_steps

        return lstm_steps.forward_steps(steps)

    def backward_steps(self, steps: Mapping[str, Sequence[Array | None]]) -> Callable[[], None]:
        """Returns a function that makes the gradients of all steps, the last step first."""
        from chainer_numba import lstm_steps

        return lstm_steps.backward_steps(steps)


@compiled
def s_lstm(part, start, stop, c1, c2, x1, x2, c, h, gates):
    for row in range(start, stop):
        left, right, before1, before2 = x1[row], x2[row], c1[row], c2[row]
        state, output = c[row], h[row]
        gate_a1, gate_i1, gate_f1 = gates[0, row], gates[1, row], gates[2, row]
        gate_a2, gate_i2, gate_f2 = gates[3, row], gates[4, row], gates[5, row]
        gate_o = gates[6, row]
        for j in range(len(state)):
            a1 = vector_math.tanh(left[unsigned(4 * j)])
            i1 = vector_math.sigmoid(left[unsigned(4 * j + 1)])
            f1 = vector_math.sigmoid(left[unsigned(4 * j + 2)])
            a2 = vector_math.tanh(right[unsigned(4 * j)])
            i2 = vector_math.sigmoid(right[unsigned(4 * j + 1)])
            f2 = vector_math.sigmoid(right[unsigned(4 * j + 2)])
            o = vector_math.sigmoid(left[unsigned(4 * j + 3)] + right[unsigned(4 * j + 3)])
            gate_a1[j], gate_i1[j], gate_f1[j] = a1, i1, f1
            gate_a2[j], gate_i2[j], gate_f2[j] = a2, i2, f2
            gate_o[j] = o
            now = a1 * i1 + a2 * i2 + before1[j] * f1 + before2[j] * f2
            state[j] = now
            output[j] = vector_math.tanh(now) * o


@compiled
def s_lstm_totals(part, start, stop, c, o, gc, gh, total, go):
    """Writes the gradients of the cell states and of the sources of the output gates."""
    for row in range(start, stop):
        state, gate, g_state, g_output = c[row], o[row], gc[row], gh[row]
        sums, source = total[row], go[row]
        for j in range(len(state)):
            t = vector_math.tanh(state[j])
            sums[j] = g_output[j] * gate[j] * (_ONE - t * t) + g_state[j]
            source[j] = g_output[j] * t * gate[j] * (_ONE - gate[j])


@compiled
def s_lstm_child_gradient(part, start, stop, c_prev, gates, total, go, gc_prev, gx):
    for row in range(start, stop):
        gate_a, gate_i, gate_f = gates[0, row], gates[1, row], gates[2, row]
        before, sums, output = c_prev[row], total[row], go[row]
        sources, g_before = gx[row], gc_prev[row]
        for j in range(len(before)):
            a, i, k, s = gate_a[j], gate_i[j], gate_f[j], sums[j]
            sources[unsigned(4 * j)] = s * i * (_ONE - a * a)
            sources[unsigned(4 * j + 1)] = s * a * i * (_ONE - i)
            sources[unsigned(4 * j + 2)] = s * before[j] * k * (_ONE - k)
            sources[unsigned(4 * j + 3)] = output[j]
            g_before[j] = s * k


class SLSTMCellKernel:
    """Kernel of ``s_lstm_cell`` for states of two dimensions.

    Args:
        backend: Backend of the arrays.
    """

    def __init__(self, backend: Backend) -> None:
        pass

    def forward(self, c1: Array, c2: Array, x1: Array, x2: Array) -> tuple[Array, Array, Array]:
        shape = c1.shape
        c, h, gates = numpy.empty(shape, f), numpy.empty(shape, f), numpy.empty((7, *shape), f)
        launch(s_lstm, shape[0], 2 * c.size * COST, *map(dense, (c1, c2, x1, x2)), c, h, gates)
        return result(c, c1), result(h, c1), gates

    def backward(
        self,
        inputs: tuple[Array, ...],
        c: Array,
        saved: Array,
        gc: Array | None,
        gh: Array | None,
    ) -> tuple[Array, ...]:
        c1, c2, x1, x2 = inputs
        shape = c1.shape
        gradients = (numpy.zeros(shape, f) if g is None else dense(g) for g in (gc, gh))
        total, go = numpy.empty(shape, f), numpy.empty(shape, f)
        launch(s_lstm_totals, shape[0], c.size * COST, dense(c), saved[6], *gradients, total, go)
        gcs: list[Array] = []
        gxs: list[Array] = []
        for c_prev, x, gates in ((c1, x1, saved[:3]), (c2, x2, saved[3:6])):
            gc_prev, gx = numpy.empty(shape, f), numpy.empty(x.shape, f)
            arrays = dense(c_prev), gates, total, go, gc_prev, gx
            launch(s_lstm_child_gradient, shape[0], 8 * c.size, *arrays)
            gcs.append(result(gc_prev, c_prev))
            gxs.append(result(gx, x))
        return (*gcs, *gxs)
