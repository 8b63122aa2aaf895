"""Cells of long short-term memory."""

from __future__ import annotations

from chainer.core.kernel import Operation


class LSTMCell(Operation):
    """One step of LSTM units with forget gates, given the sources of their gates.

    ``select(c_prev, x)``: ``c_prev`` of shape ``(B, n, ...)``; ``x`` of shape ``(B, 4 n, ...)`` and
    the same dtype, floating point. The four sources of a unit are neighbours along axis 1, in the
    order cell input ``a``, input gate ``i``, forget gate ``f``, output gate ``o``.

    Methods:
        ``forward(c_prev, x) -> (c, h, saved)``: ``c = tanh(a) sigmoid(i) + c_prev sigmoid(f)``,
        ``h = tanh(c) sigmoid(o)``; ``saved`` is for ``backward``.

        ``backward(c_prev, x, c, saved, gc, gh) -> (gc_prev, gx)``: gradients; ``gc`` or ``gh`` may
        be None, not both.
    """

    name = "lstm_cell"
    reference = "chainer.backends.numpy.kernels.lstm_cells:LSTMCellKernel"


lstm_cell = LSTMCell()
