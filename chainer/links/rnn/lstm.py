"""Fully-connected LSTM layers."""

# A step reads arrays and shapes without the calls of properties.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.variable import Variable
from chainer.core.typing import InitializerLike, VariableLike
from chainer.functions.array import concat, split_axis
from chainer.functions.rnn import lstm
from chainer.links.chain import Chain
from chainer.links.connection.linear import Linear
from chainer.links.initializers import get_initializer
from chainer.links.rnn._state import CellStateChain, zeros
from chainer.links.size_inference import infer_features


class LSTMBase(Chain):
    """Base class of the stateful and the stateless LSTM: their two linear layers.

    Takes the same arguments as :class:`LSTM`.
    """

    def __init__(
        self,
        in_size: int | None,
        out_size: int | None = None,
        lateral_init: InitializerLike = None,
        upward_init: InitializerLike = None,
        bias_init: InitializerLike = None,
        forget_bias_init: InitializerLike = None,
    ) -> None:
        if out_size is None:
            in_size, out_size = None, in_size
        if out_size is None:
            raise TypeError(f"{type(self).__name__} needs an output size")
        super().__init__()
        self.state_size = out_size
        self.lateral_init = lateral_init
        self.upward_init = upward_init
        self.bias_init = 0 if bias_init is None else bias_init
        self.forget_bias_init = 1 if forget_bias_init is None else forget_bias_init
        # The four gates are one matrix each way, so that a step is two products. They are filled
        # below, because the initializers must see the shape of a single gate.
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size, initialW=0)
            self.lateral = Linear(out_size, 4 * out_size, initialW=0, nobias=True)
        if in_size is not None:
            self._initialize_params()

    def _initialize_params(self) -> None:
        """Initializes the weights gate by gate, so that their scale fits the size of one gate."""
        size = self.state_size
        lateral_init = get_initializer(self.lateral_init)
        upward_init = get_initializer(self.upward_init)
        for start in range(0, 4 * size, size):
            lateral_init(self.lateral.W.array[start : start + size])
            upward_init(self.upward.W.array[start : start + size])
        # functions.lstm expects the four inputs of a unit next to each other.
        biases = self.upward.b.array.reshape(size, 4)  # type: ignore[union-attr]
        a, i, f, o = (biases[:, k] for k in range(4))
        get_initializer(self.bias_init)(a)
        get_initializer(self.bias_init)(i)
        get_initializer(self.forget_bias_init)(f)
        get_initializer(self.bias_init)(o)

    def _on_reinitialize(self) -> None:
        if self.upward.W.array is not None:
            self._initialize_params()

    def _prepare(self, x: VariableLike) -> None:
        if self.upward.W.array is None:
            in_size = infer_features(self, x)
            with device_of(self).backend.use(device_of(self)):
                self.upward.in_size = in_size
                self.upward._initialize_params(in_size)
                self._initialize_params()


class StatelessLSTM(LSTMBase):
    """Stateless LSTM layer: takes the state and returns the new one.

    Wraps :func:`chainer.functions.lstm` with learned upward and lateral connections.

    Args:
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of output vectors. With one size given, that is the output size.
        lateral_init: Initializer of the lateral connections.
        upward_init: Initializer of the upward connections.
        bias_init: Initializer of the biases of the cell input, the input and the output gate; zero
            by default.
        forget_bias_init: Initializer of the bias of the forget gate; one by default.

    Attributes:
        upward (Linear): Linear layer of upward connections.
        lateral (Linear): Linear layer of lateral connections.

    Example:
        >>> l = L.StatelessLSTM(10, 20)
        >>> c, h = l(None, None, np.zeros((1, 10), np.float32))
        >>> c.shape, h.shape
        ((1, 20), (1, 20))
    """

    def forward(
        self, c: VariableLike | None, h: VariableLike | None, x: VariableLike
    ) -> tuple[Variable, Variable]:
        """Returns new cell state and output.

        Args:
            c (Variable or None): Cell states, shape ``(B, out_size)``; None for zeros.
            h (Variable or None): Output at the previous time step; None for zeros.
            x (Variable or array): Input of shape ``(B, in_size)``.

        Returns:
            tuple of Variable: ``(c_new, h_new)``.
        """
        self._prepare(x)
        lstm_in = self.upward(x)
        if h is not None:
            lstm_in += self.lateral(h)
        if c is None:
            c = zeros(self, (x.shape[0], self.state_size), x.dtype)
        return lstm.lstm(c, lstm_in)


class LSTM(CellStateChain, LSTMBase):
    """Fully-connected LSTM layer with state.

    The cell state and the output of the previous step are kept in the link. Batches may shrink from
    step to step: the states of the remaining sequences are kept as they are, so sort sequences by
    descending length.

    Takes the same arguments as :class:`StatelessLSTM`.

    Attributes:
        upward (Linear): Linear layer of upward connections.
        lateral (Linear): Linear layer of lateral connections.
        c (Variable): Cell states of the units.
        h (Variable): Output at the previous time step.

    Example:
        >>> l = L.LSTM(20)
        >>> l(np.zeros((1, 10), np.float32)).shape
        (1, 20)
    """

    def forward(self, x: VariableLike) -> Variable:
        """Updates the internal state and returns the LSTM outputs.

        Args:
            x (Variable or array): A new batch from the input sequences, shape ``(B, in_size)``.

        Returns:
            Variable: Outputs of shape ``(B, out_size)``.

        Raises:
            TypeError: If the batch is larger than in the previous step.
        """
        if self.upward.W._array is None:
            self._prepare(x)
        batch = x.shape[0]
        lstm_in = self.upward(x)
        h_rest = None
        if self.h is not None:
            h_size = self.h.shape[0]
            # Sequences that have ended are at the end of the state; their part stays as it is.
            if batch == 0:
                h_rest = self.h
            elif h_size < batch:
                raise TypeError(
                    "The batch size of x must be equal to or less than the size of the previous "
                    f"state h: {batch} > {h_size}. Call reset_state() before other sequences"
                )
            elif h_size > batch:
                h_update, h_rest = split_axis.split_axis(self.h, [batch], axis=0)
                lstm_in += self.lateral(h_update)
            else:
                lstm_in += self.lateral(self.h)
        if self.c is None:
            self.c = zeros(self, (batch, self.state_size), x.dtype)
        self.c, y = lstm.lstm(self.c, lstm_in)
        self.h = y if h_rest is None else concat.concat([y, h_rest], axis=0)
        return y
