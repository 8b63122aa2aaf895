"""LSTM with peephole connections."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation import sigmoid, tanh
from chainer.functions.array import reshape
from chainer.links.connection.linear import Linear
from chainer.links.rnn._state import GatedChain, zeros


class StatefulPeepholeLSTM(GatedChain):
    r"""Fully-connected LSTM layer with peephole connections: the cell state affects its gates.

    Given an input vector :math:`x`, the next hidden vector :math:`h'` is as follows, where
    :math:`u` means :math:`upward x + lateral h`, of which each formula uses a separate part.

    .. math::
        a &= \tanh(u), \\
        i &= \sigma(u + peep_i c), \\
        f &= \sigma(u + peep_f c), \\
        c' &= a \odot i + f \odot c, \\
        o &= \sigma(u + peep_o c'), \\
        h' &= o \tanh(c').

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of hidden vectors.

    Attributes:
        upward (Linear): Linear layer of upward connections.
        lateral (Linear): Linear layer of lateral connections.
        peep_i (Linear): Linear layer of peephole connections to the input gate.
        peep_f (Linear): Linear layer of peephole connections to the forget gate.
        peep_o (Linear): Linear layer of peephole connections to the output gate.
        c (Variable): Cell states of LSTM units; None before the first call.
        h (Variable): Output at the current time step; None before the first call.

    Example:
        >>> L.StatefulPeepholeLSTM(10, 20)(np.zeros((1, 10), np.float32)).shape
        (1, 20)
    """

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        self.state_size = out_size
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)
            self.peep_i = Linear(out_size, out_size, nobias=True)
            self.peep_f = Linear(out_size, out_size, nobias=True)
            self.peep_o = Linear(out_size, out_size, nobias=True)

    def _step(self, x: VariableLike, lstm_in: Variable) -> Variable:
        c = self.c
        if c is None:
            c = zeros(self, (x.shape[0], self.state_size), x.dtype)
        # As in functions.lstm, the four inputs of a unit are next to each other.
        lstm_in = reshape.reshape(lstm_in, (-1, self.state_size, 4))
        a, i, f, o = (lstm_in[:, :, k] for k in range(4))
        a = tanh.tanh(a)
        i = sigmoid.sigmoid(i + self.peep_i(c))
        f = sigmoid.sigmoid(f + self.peep_f(c))
        # The output gate sees the new cell state, the other gates the old one.
        self.c = a * i + f * c
        o = sigmoid.sigmoid(o + self.peep_o(self.c))
        self.h = o * tanh.tanh(self.c)
        return self.h
