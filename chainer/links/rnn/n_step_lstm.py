"""Multi-layered LSTM for sequences."""

from __future__ import annotations

from typing import Any

from chainer.functions.connection.n_step_lstm import n_step_bilstm, n_step_lstm
from chainer.links.rnn.n_step_rnn import NStepRNNBase


class NStepLSTMBase(NStepRNNBase):
    """What the two LSTM networks share."""

    n_weights = 8

    @property
    def n_cells(self) -> int:
        """Number of states: hidden and cell states."""
        return 2

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls :func:`chainer.functions.n_step_lstm`, or ``n_step_bilstm``."""
        return (n_step_bilstm if self.use_bi_direction else n_step_lstm)(*args)

    def forward(self, hx: Any, cx: Any, xs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Calculates all hidden states and cell states.

        Args:
            hx (Variable or None): Initial hidden states of shape ``(S, B, N)``, or ``(2S, B, N)``
                in a bi-directional network: ``S`` layers, ``B`` sequences, ``N`` units. None for
                zeros.
            cx (Variable or None): Initial cell states, likewise.
            xs (list of Variable): Input sequences of shapes ``(L_i, I)``.

        Returns:
            tuple: ``hy`` and ``cy``, the updated hidden and cell states, of the shape of ``hx``,
            and ``ys``, the list of the hidden states of the last layer, of shapes ``(L_i, N)``, or
            ``(L_i, 2N)`` in a bi-directional network.
        """
        return self._apply((hx, cx), xs, kwargs)


class NStepLSTM(NStepLSTMBase):
    """Stacked Uni-directional LSTM for sequences.

    Wraps :func:`chainer.functions.n_step_lstm` and holds the weights. Unlike that function it takes
    the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepLSTM(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, cy, ys = l(None, None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 2, 4), [(2, 4), (5, 4)])
    """

    use_bi_direction = False


class NStepBiLSTM(NStepLSTMBase):
    """Stacked Bi-directional LSTM for sequences.

    Wraps :func:`chainer.functions.n_step_bilstm` and holds the weights. Unlike that function it
    takes the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepBiLSTM(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, cy, ys = l(None, None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((4, 2, 4), [(2, 8), (5, 8)])
    """

    use_bi_direction = True
