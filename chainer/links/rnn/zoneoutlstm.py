"""LSTM with zoneout."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.core.utils.argument import REMOVED_TRAIN, removed_arguments
from chainer.functions.noise import zoneout
from chainer.functions.rnn.lstm import lstm
from chainer.links.connection.linear import Linear
from chainer.links.rnn._state import GatedChain, zeros


class StatefulZoneoutLSTM(GatedChain):
    """Fully-connected LSTM layer with zoneout: units keep their previous value at random.

    In training mode each cell state and each output keeps its value with a given probability, see
    :func:`chainer.functions.zoneout`. In test mode the layer is an ordinary LSTM.

    See `Zoneout: Regularizing RNNs by Randomly Preserving Hidden Activations
    <https://arxiv.org/abs/1606.01305>`_.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of output vectors.
        c_ratio (float): Probability that a cell state stays.
        h_ratio (float): Probability that an output stays.

    Attributes:
        upward (Linear): Linear layer of upward connections.
        lateral (Linear): Linear layer of lateral connections.
        c (Variable): Cell states of the units; None before the first call.
        h (Variable): Output at the previous time step; None before the first call.

    Example:
        >>> L.StatefulZoneoutLSTM(10, 20)(np.zeros((1, 10), np.float32)).shape
        (1, 20)
    """

    @removed_arguments(train=REMOVED_TRAIN)
    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        c_ratio: float = 0.5,
        h_ratio: float = 0.5,
    ) -> None:
        super().__init__()
        self.state_size = out_size
        self.c_ratio = c_ratio
        self.h_ratio = h_ratio
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)

    def _step(self, x: VariableLike, lstm_in: Variable) -> Variable:
        shape = (x.shape[0], self.state_size)
        c = zeros(self, shape, x.dtype) if self.c is None else self.c
        h = zeros(self, shape, x.dtype) if self.h is None else self.h
        # Zoneout keeps parts of both states, so that both must be arrays at the first step, too.
        c_new, h_new = lstm(c, lstm_in)
        self.c = zoneout.zoneout(c, c_new, self.c_ratio)
        self.h = zoneout.zoneout(h, h_new, self.h_ratio)
        return self.h
