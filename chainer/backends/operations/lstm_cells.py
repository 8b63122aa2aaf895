"""Cells of long short-term memory."""

from __future__ import annotations

from chainer.core.arrays.kernel import Operation, Recording


class LSTMCell(Operation):
    """One step of LSTM units with forget gates, given the sources of their gates.

    ``select(c_prev, x)``: ``c_prev`` of shape ``(B, n, ...)``; ``x`` of shape ``(B, 4 n, ...)`` and
    the same dtype, floating point. The four sources of a unit are neighbors along axis 1, in the
    order cell input ``a``, input gate ``i``, forget gate ``f``, output gate ``o``.

    Methods:
        ``forward(c_prev, x) -> (c, h, saved)``: ``c = tanh(a) sigmoid(i) + c_prev sigmoid(f)``,
        ``h = tanh(c) sigmoid(o)``; ``saved`` is opaque and given to ``backward``.

        ``backward(c_prev, x, c, saved, gc, gh) -> (gc_prev, gx)``: gradients; ``gc`` or ``gh`` may
        be None, not both.
    """

    name = "lstm_cell"
    reference = "chainer.backends.numpy.kernels.lstm_cells:LSTMCellKernel"
    recording = Recording.STEPS
    pure = True


class SLSTMCell(Operation):
    """LSTM units with two children, given the sources of the gates of each.

    ``select(c1, c2, x1, x2)``: cell states ``c1`` and ``c2`` of shape ``(B, n, ...)``; sources
    ``x1`` and ``x2`` of shape ``(B, 4 n, ...)`` and the same dtype, floating point, in the order of
    ``lstm_cell``.

    Methods:
        ``forward(c1, c2, x1, x2) -> (c, h, saved)``: ``c = tanh(a1) sigmoid(i1) + tanh(a2)
        sigmoid(i2) + c1 sigmoid(f1) + c2 sigmoid(f2)``, ``h = tanh(c) sigmoid(o1 + o2)``; ``saved``
        is opaque and given to ``backward``.

        ``backward(inputs, c, saved, gc, gh) -> (gc1, gc2, gx1, gx2)``: gradients; ``inputs`` is the
        tuple ``(c1, c2, x1, x2)``; ``gc`` or ``gh`` may be None, not both.
    """

    name = "s_lstm_cell"
    reference = "chainer.backends.numpy.kernels.lstm_cells:SLSTMCellKernel"
    pure = True


class TreeLSTMCell(Operation):
    """LSTM units with any number of children.

    ``select(x, *cs)``: sources ``x`` of shape ``(B, (3 + N) n, ...)``, floating point: blocks of
    ``n`` along axis 1, in the order cell input ``a``, input gate ``i``, output gate ``o``, forget
    gates ``f_1, ..., f_N``; cell states ``cs``, each of shape ``(B, n, ...)`` and the same dtype.

    Methods:
        ``forward(cs, x) -> (c, h, saved)``: ``c = tanh(a) sigmoid(i) + sum(c_k sigmoid(f_k))``,
        ``h = tanh(c) sigmoid(o)``; ``cs`` is a list; ``saved`` is opaque and given to
        ``backward``.

        ``backward(cs, x, c, saved, gc, gh) -> (gcs, gx)``: gradients, ``gcs`` a list; ``gc`` or
        ``gh`` may be None, not both.
    """

    name = "tree_lstm_cell"
    reference = "chainer.backends.numpy.kernels.lstm_cells:TreeLSTMCellKernel"


lstm_cell = LSTMCell()
s_lstm_cell = SLSTMCell()
tree_lstm_cell = TreeLSTMCell()
