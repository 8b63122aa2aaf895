"""oneDNN kernel of recurrent networks: one primitive for each layer and direction."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.ideep import library
from chainer.backends.numpy.kernels._rnn_cells import CellGradients, Steps
from chainer.backends.numpy.kernels.rnns import NStepRNNKernel as ReferenceNStepRNNKernel
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array


class NStepRNNKernel(ReferenceNStepRNNKernel):
    """Kernel of ``n_step_rnn`` for LSTM and GRU over sequences of one length."""

    packs = True

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._ops = library.operations()

    def make_cell(self, mode: str, w: list[Array], b: list[Array], steps: Steps) -> Array:
        return _CELLS[mode](self._ops, w, b, steps)


class _Cell:
    """A recurrent cell over packed sequences of one length.

    Args:
        ops: The module ``ideep4py.ops``.
        w: Weights: first of the input, then of the state.
        b: Biases, likewise.
        steps: Order of the visits.
    """

    #: Position among oneDNN's gates -> number of the gate in Chainer.
    order: tuple[int, ...]

    def __init__(self, ops: Any, w: list[Array], b: list[Array], steps: Steps) -> None:
        self._ops = ops
        self._gates = gates = len(w) // 2
        self._reverse = bool(steps.slices) and steps.slices[0][0].start > 0
        self._steps = len(steps.slices)
        self._W = numpy.stack([w[i] for i in self.order])
        self._U = numpy.stack([w[gates + i] for i in self.order])
        self._b = self._join_biases(b)

    def _join_biases(self, b: list[Array]) -> Array:
        """Returns the biases as oneDNN takes them."""
        raise NotImplementedError

    def _split_biases(self, gb: Array) -> list[Array]:
        """Returns the gradients of the single biases, given the gradient of the joined biases."""
        raise NotImplementedError

    def _by_time(self, x: Array) -> Array:
        """Returns packed elements as ``(steps, batch, size)``, the first visit first."""
        x = x.reshape(self._steps, -1, x.shape[1])
        return x[::-1] if self._reverse else x

    def _packed(self, y: Array) -> Array:
        """Undoes :meth:`_by_time`."""
        y = numpy.asarray(y)
        if self._reverse:
            y = y[::-1]
        return y.reshape(-1, y.shape[2])

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        """See :meth:`chainer.backends.numpy.kernels._rnn_cells.Cell.forward`."""
        found = self._run(self._by_time(x), h, c)
        self._saved = found.saved
        last_c = None if found.c is None else numpy.asarray(found.c)
        return self._packed(found.y), numpy.asarray(found.h), last_c

    def _run(self, x: Array, h: Array, c: Array) -> Array:
        """Calls the primitive; returns its outputs and what the gradient needs."""
        raise NotImplementedError

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        """See :meth:`chainer.backends.numpy.kernels._rnn_cells.Cell.backward`."""
        if gy is not None:
            gy = self._by_time(gy)
        g = self._ops.recurrent_backward(self._saved, gy, gh, gc)
        gW, gU = numpy.asarray(g.W), numpy.asarray(g.U)
        positions = [self.order.index(i) for i in range(self._gates)]
        gws = [*[gW[i] for i in positions], *[gU[i] for i in positions]]
        gc = None if g.c is None else numpy.asarray(g.c)
        gbs = self._split_biases(numpy.asarray(g.b))
        return self._packed(g.x), numpy.asarray(g.h), gc, gws, gbs


class _LSTMCell(_Cell):
    """Long short-term memory; both libraries order the gates ``i, f, a, o``."""

    order = (0, 1, 2, 3)

    def _join_biases(self, b: list[Array]) -> Array:
        # oneDNN has one bias per gate, which is the sum of Chainer's two.
        return numpy.stack([b[i] + b[4 + i] for i in range(4)])

    def _split_biases(self, gb: Array) -> list[Array]:
        # Parameters must not share memory with the gradients of others, hence the copy.
        return [*gb, *gb.copy()]

    def _run(self, x: Array, h: Array, c: Array) -> Array:
        return self._ops.lstm(x, h, c, self._W, self._U, self._b)


class _GRUCell(_Cell):
    """Gated recurrent unit; gates ``r, z`` and candidate in Chainer, ``z, r`` in oneDNN."""

    order = (1, 0, 2)

    def _join_biases(self, b: list[Array]) -> Array:
        # The candidate keeps two biases, because only one of them is multiplied by ``r``.
        return numpy.stack([b[1] + b[4], b[0] + b[3], b[2], b[5]])

    def _split_biases(self, gb: Array) -> list[Array]:
        return [gb[1], gb[0], gb[2], gb[1].copy(), gb[0].copy(), gb[3]]

    def _run(self, x: Array, h: Array, c: Array) -> Array:
        return self._ops.gru(x, h, self._W, self._U, self._b)


_CELLS: dict[str, type[_Cell]] = {"lstm": _LSTMCell, "gru": _GRUCell}
