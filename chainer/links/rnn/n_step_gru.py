"""Multi-layered gated recurrent units for sequences."""

from __future__ import annotations

from typing import Any

from chainer.functions.connection.n_step_gru import n_step_bigru, n_step_gru
from chainer.links.rnn.n_step_rnn import SingleStateNetwork


class NStepGRUBase(SingleStateNetwork):
    """What the two GRU networks share."""

    n_weights = 6

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls :func:`chainer.functions.n_step_gru`, or ``n_step_bigru``."""
        return (n_step_bigru if self.use_bi_direction else n_step_gru)(*args)


class NStepGRU(NStepGRUBase):
    """Stacked Uni-directional GRU for sequences.

    Wraps :func:`chainer.functions.n_step_gru` and holds the weights. Unlike that function it takes
    the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepGRU(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, ys = l(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 2, 4), [(2, 4), (5, 4)])
    """

    use_bi_direction = False


class NStepBiGRU(NStepGRUBase):
    """Stacked Bi-directional GRU for sequences.

    Wraps :func:`chainer.functions.n_step_bigru` and holds the weights. Unlike that function it
    takes the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepBiGRU(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, ys = l(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((4, 2, 4), [(2, 8), (5, 8)])
    """

    use_bi_direction = True
