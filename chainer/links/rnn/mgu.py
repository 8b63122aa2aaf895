"""Minimal gated units."""

from __future__ import annotations

from chainer.core.autograd.variable import Variable
from chainer.core.typing import VariableLike
from chainer.functions.activation import sigmoid, tanh
from chainer.functions.array import concat
from chainer.functions.math import linear_interpolate
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.rnn._state import HiddenStateChain, StatelessCell, zeros


class MGUBase(Chain):
    """Base class of the stateful and the stateless MGU: their two linear layers."""

    def __init__(self, n_inputs: int, n_units: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W_f = Linear(n_inputs + n_units, n_units)
            self.W_h = Linear(n_inputs + n_units, n_units)

    def _next(self, h: VariableLike, x: VariableLike) -> Variable:
        f = sigmoid.sigmoid(self.W_f(concat.concat((h, x), axis=1)))
        h_bar = tanh.tanh(self.W_h(concat.concat((f * h, x), axis=1)))
        return linear_interpolate.linear_interpolate(f, h_bar, h)


class StatelessMGU(MGUBase, StatelessCell):
    r"""Stateless Minimal Gated Unit (MGU): takes the state and returns the new one.

    .. math::
        f &= \sigma(W_f [h; x]), \\
        \bar{h} &= \tanh(W_h [f \odot h; x]), \\
        h' &= (1 - f) \odot h + f \odot \bar{h}.

    See `Minimal Gated Unit for Recurrent Neural Networks <https://arxiv.org/abs/1603.09420>`_.

    Args:
        n_inputs (int): Size of input vectors.
        n_units (int): Size of hidden vectors.

    Attributes:
        W_f (Linear): Linear layer of the forget gate.
        W_h (Linear): Linear layer of the candidate.

    Example:
        >>> h, x = np.zeros((1, 20), np.float32), np.zeros((1, 10), np.float32)
        >>> L.StatelessMGU(10, 20)(h, x).shape
        (1, 20)
    """


class StatefulMGU(HiddenStateChain, MGUBase):
    """Stateful Minimal Gated Unit (MGU): keeps the hidden vectors.

    See :class:`StatelessMGU` for the formula.

    Args:
        in_size (int): Size of input vectors.
        out_size (int): Size of hidden vectors.

    Attributes:
        h (Variable): Hidden vectors; None before the first call.
        W_f (Linear): Linear layer of the forget gate.
        W_h (Linear): Linear layer of the candidate.

    Example:
        >>> L.StatefulMGU(10, 20)(np.zeros((1, 10), np.float32)).shape
        (1, 20)
    """

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__(in_size, out_size)

    def _updated(self, x: VariableLike) -> Variable:
        h = self.h
        if h is None:
            h = zeros(self, (x.shape[0], self.W_h.out_size), x.dtype)
        return self._next(h, x)
