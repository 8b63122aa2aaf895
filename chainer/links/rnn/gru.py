"""Gated recurrent units."""

# A step reads the arrays of weights without the call of a property.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.activation import sigmoid, tanh
from chainer.functions.math import linear_interpolate
from chainer.functions.rnn import _gru_cell
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.errors import ArgumentCountError
from chainer.links.link_hook import hook_count
from chainer.links.rnn._state import HiddenStateChain, StatelessCell


class GRUBase(Chain):
    """Base class of the stateful and the stateless GRU: their six linear layers."""

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        init: InitializerLike = None,
        inner_init: InitializerLike = None,
        bias_init: InitializerLike = None,
    ) -> None:
        super().__init__()

        def linear(size: int | None, initializer: Any) -> Linear:
            return Linear(size, out_size, initialW=initializer, initial_bias=bias_init)

        with self.init_scope():
            self.W_r = linear(in_size, init)
            self.U_r = linear(out_size, inner_init)
            self.W_z = linear(in_size, init)
            self.U_z = linear(out_size, inner_init)
            self.W = linear(in_size, init)
            self.U = linear(out_size, inner_init)

    def _layers(self) -> tuple[Linear, ...]:
        return self.W_r, self.W_z, self.W, self.U_r, self.U_z, self.U

    def _next_at_once(self, h: VariableLike, x: VariableLike) -> Variable | None:
        """Returns the next hidden vectors, computed by one kernel; None if there is none.

        None, too, if a layer does something else than its class: a hook, or another link.
        """
        if hook_count.value:
            return None
        weights: list[Parameter] = []
        biases: list[Parameter] = []
        for layer in (self.W_r, self.W_z, self.W, self.U_r, self.U_z, self.U):
            # Links with hooks of their own do not call their method forward() at once.
            is_plain = type(layer) is Linear and layer._calls_forward
            if not is_plain or "forward" in layer.__dict__:
                return None
            W, b = layer.W, layer.b
            if b is None or W._array is None:
                return None
            weights.append(W)
            biases.append(b)
        return _gru_cell.next_state_at_once(weights, biases, h, x)


class StatelessGRU(StatelessCell, GRUBase):
    r"""Stateless Gated Recurrent Unit function (GRU): takes the state and returns the new one.

    Given a previous hidden vector :math:`h` and an input vector :math:`x`, the next hidden vector
    is

    .. math::
        r &= \sigma(W_r x + U_r h), \\
        z &= \sigma(W_z x + U_z h), \\
        \bar{h} &= \tanh(W x + U (r \odot h)), \\
        h' &= (1 - z) \odot h + z \odot \bar{h}.

    See `On the Properties of Neural Machine Translation: Encoder-Decoder Approaches
    <https://www.aclweb.org/anthology/W14-4012>`_ and `Empirical Evaluation of Gated Recurrent
    Neural Networks on Sequence Modeling <https://arxiv.org/abs/1412.3555>`_.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of hidden vectors.
        init: Initializer of the weights :math:`W` of the input.
        inner_init: Initializer of the weights :math:`U` of the hidden vector.
        bias_init: Initializer of the biases; zero by default.

    Attributes:
        W_r, W_z, W (Linear): Linear layers of the input.
        U_r, U_z, U (Linear): Linear layers of the hidden vector.

    Example:
        >>> h, x = np.zeros((1, 20), np.float32), np.zeros((1, 10), np.float32)
        >>> L.StatelessGRU(None, 20)(h, x).shape
        (1, 20)
    """

    def _next(self, h: VariableLike, x: VariableLike) -> Variable:
        y = self._next_at_once(h, x)
        if y is not None:
            return y
        r = sigmoid.sigmoid(self.W_r(x) + self.U_r(h))
        z = sigmoid.sigmoid(self.W_z(x) + self.U_z(h))
        h_bar = tanh.tanh(self.W(x) + self.U(r * h))
        return linear_interpolate.linear_interpolate(z, h_bar, h)


class StatefulGRU(HiddenStateChain, GRUBase):
    r"""Stateful Gated Recurrent Unit function (GRU): keeps the hidden vectors.

    The hidden vectors of the previous call (zero at first) are the :math:`h` in the formula of
    :class:`StatelessGRU`.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of hidden vectors.
        init: Initializer of the weights :math:`W` of the input; an array has shape
            ``(out_size, in_size)``.
        inner_init: Initializer of the weights :math:`U` of the hidden vector; an array has shape
            ``(out_size, out_size)``.
        bias_init: Initializer of the biases; zero if None. An array has shape ``(out_size,)``.

    Attributes:
        h (Variable): Hidden vectors; None before the first call.
        W_r, W_z, W (Linear): Linear layers of the input.
        U_r, U_z, U (Linear): Linear layers of the hidden vector.

    Example:
        >>> l = L.StatefulGRU(10, 20)
        >>> l(np.zeros((1, 10), np.float32)).shape
        (1, 20)
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int,
        init: InitializerLike = None,
        inner_init: InitializerLike = None,
        bias_init: InitializerLike = 0,
    ) -> None:
        super().__init__(in_size, out_size, init, inner_init, bias_init)
        self.state_size = out_size

    def _updated(self, x: VariableLike) -> Variable:
        # The first step has no state, so that the layers U are left out. As in earlier releases
        # this includes their biases.
        h = self.h
        if h is None:
            z = self.W_z(x)
            h_bar = self.W(x)
            return sigmoid.sigmoid(z) * tanh.tanh(h_bar)
        y = self._next_at_once(h, x)
        return _gru_cell.next_state(self._layers(), h, x) if y is None else y


class GRU(StatefulGRU):
    """Stateful Gated Recurrent Unit function (GRU).

    It is the same as :class:`StatefulGRU`. In Chainer v1 ``GRU`` was stateless; that class is now
    called :class:`StatelessGRU`.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of hidden vectors.
        init: Initializer of the weights of the input.
        inner_init: Initializer of the weights of the hidden vector.
        bias_init: Initializer of the biases.

    Example:
        >>> L.GRU(10, 20)(np.zeros((1, 10), np.float32)).shape
        (1, 20)
    """

    def forward(self, *args: VariableLike) -> Variable:
        """Updates the internal state and returns it.

        Args:
            args (Variable or array): The input of shape ``(B, in_size)``.

        Returns:
            Variable: Next hidden vectors of shape ``(B, out_size)``.

        Raises:
            ValueError: If there is not exactly one argument.
        """
        if len(args) != 1:
            message = (
                f"Invalid argument. The length of GRU.forward must be 1. But {len(args)} is given. "
            )
            if len(args) == 2:
                # A call of the stateless GRU of version 1.
                message += (
                    "In Chainer v2, chainer.links.GRU is changed from stateless to stateful. One "
                    "possibility is you assume GRU to be stateless. Use chainer.links.StatelessGRU "
                    "instead."
                )
            raise ArgumentCountError(message)
        return super().forward(args[0])
