"""Multi-layered LSTM for sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import REMOVED_TRAIN, removed_arguments
from chainer.functions.rnn.n_step_lstm import n_step_bilstm, n_step_lstm
from chainer.links.rnn.n_step_rnn import NStepRNNBase


class NStepLSTMBase(NStepRNNBase):
    """Base class of the LSTM networks of one and of two directions."""

    n_weights = 8

    @property
    def n_cells(self) -> int:
        """Number of states: hidden and cell states."""
        return 2

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls :func:`chainer.functions.n_step_lstm`, or ``n_step_bilstm``."""
        return (n_step_bilstm if self.use_bi_direction else n_step_lstm)(*args)

    @removed_arguments(train=REMOVED_TRAIN)
    def forward(
        self, hx: VariableLike | None, cx: VariableLike | None, xs: Sequence[VariableLike]
    ) -> tuple[Variable, Variable, list[Variable]]:
        """Calculates all hidden states and cell states.

        Args:
            hx (Variable or None): Initial hidden states of shape ``(S, B, N)``, or ``(2S, B, N)``
                in a bi-directional network: ``S`` layers, ``B`` sequences, ``N`` units. None means
                zeros.
            cx (Variable or None): Initial cell states, likewise.
            xs (list of Variable): Input sequences of shapes ``(L_i, I)``.

        Returns:
            tuple: ``hy`` and ``cy``, the updated hidden and cell states, of the shape of ``hx``,
            and ``ys``, the list of the hidden states of the last layer, of shapes ``(L_i, N)``, or
            ``(L_i, 2N)`` in a bi-directional network.
        """
        hy, cy, ys = self._apply((hx, cx), xs)
        return hy, cy, ys


class NStepLSTM(NStepLSTMBase):
    """Stacked Uni-directional LSTM for sequences.

    Wraps :func:`chainer.functions.n_step_lstm` and holds the weights. It has the same
    arguments and attributes as :class:`~chainer.links.rnn.n_step_rnn.NStepRNNBase`.

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

    It is :class:`~chainer.links.NStepLSTM` in both directions, by
    :func:`chainer.functions.n_step_bilstm`: twice as many states, and outputs of twice the size.

    Example:
        >>> L.NStepBiLSTM(n_layers=2, in_size=3, out_size=4, dropout=0.5).ws[2][0].shape
        (4, 8)
    """

    use_bi_direction = True
