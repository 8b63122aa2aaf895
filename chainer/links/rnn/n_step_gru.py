"""Multi-layered gated recurrent units for sequences."""

from __future__ import annotations

from typing import Any

from chainer.functions.rnn.n_step_gru import n_step_bigru, n_step_gru
from chainer.links.rnn.n_step_rnn import SingleStateNetwork


class NStepGRUBase(SingleStateNetwork):
    """Base class of the GRU networks of one and of two directions."""

    n_weights = 6

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls :func:`chainer.functions.n_step_gru`, or ``n_step_bigru``."""
        return (n_step_bigru if self.use_bi_direction else n_step_gru)(*args)


class NStepGRU(NStepGRUBase):
    """Stacked Uni-directional GRU for sequences.

    Wraps :func:`chainer.functions.n_step_gru` and holds the weights. It has the same
    arguments and attributes as :class:`~chainer.links.rnn.n_step_rnn.NStepRNNBase`.

    Example:
        >>> l = L.NStepGRU(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> hy, ys = l(None, [np.zeros((2, 3), np.float32)])
        >>> hy.shape, ys[0].shape
        ((2, 1, 4), (2, 4))
    """

    use_bi_direction = False


class NStepBiGRU(NStepGRUBase):
    """Stacked Bi-directional GRU for sequences.

    It is :class:`~chainer.links.NStepGRU` in both directions, by
    :func:`chainer.functions.n_step_bigru`: twice as many states, and outputs of twice the size.

    Example:
        >>> L.NStepBiGRU(n_layers=2, in_size=3, out_size=4, dropout=0.5).ws[2][0].shape
        (4, 8)
    """

    use_bi_direction = True
