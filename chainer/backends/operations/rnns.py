"""Recurrent networks over whole sequences."""

from __future__ import annotations

from typing import NamedTuple

from chainer.core.arrays.kernel import Operation
from chainer.core.typing import Array

#: Number of weights (and of biases) of one layer and direction, by mode.
WEIGHTS = {"lstm": 8, "gru": 6, "tanh": 2, "relu": 2}


class RNNLayout(NamedTuple):
    """Shape of a recurrent network: cell, layers and directions, without the sizes of its arrays.

    It is a named tuple because each selection of a kernel hashes and compares it, which a tuple
    does in C.

    Attributes:
        mode: Kind of the cells: ``'lstm'``, ``'gru'``, ``'tanh'`` or ``'relu'``.
        layers: Number of layers.
        directions: Number of directions, 1 or 2.
        batch_sizes: Number of sequences that have an element at each time.
        ratio: Dropout ratio.
        draws: Whether the random numbers of masks are drawn although the ratio is 0. Release 7 does
            so in training on the host, and the numbers that a program draws later depend on it.
    """

    mode: str
    layers: int
    directions: int
    batch_sizes: tuple[int, ...]
    ratio: float = 0.0
    draws: bool = False

    @property
    def groups(self) -> int:
        """Number of layers times the number of directions."""
        return self.layers * self.directions


#: Weights or biases: one list for each layer and direction.
Parameters = list[list[Array]]
#: Arguments of ``forward``: ``(x, hx, cx, ws, bs)``.
RNNInputs = tuple[Array, Array, Array, Parameters, Parameters]


class NStepRNN(Operation):
    """Stacked recurrent network over a batch of sequences of different lengths.

    Sequences are sorted by length, longest first, and *packed* by time: ``x`` of shape ``(T, I)``
    contains first the elements of all sequences at time 0, then those at time 1 and so on. A
    :class:`RNNLayout` describes the network. Its ``batch_sizes`` do not increase, and ``T`` is
    their sum. ``hx`` and ``cx`` have the shape ``(layers * directions, B, N)`` with ``B`` at least
    the first batch size. Sequences beyond it keep their state.

    Weights and biases are lists of lists, one for each layer and direction (the directions of a
    layer are neighbors), of 8 (LSTM), 6 (GRU) or 2 arrays: first those applied to the input of the
    layer, then the weights applied to the state, each of shape ``(N, input size)`` and ``(N,)``.
    The gates are ordered as in :func:`chainer.functions.n_step_lstm` and
    :func:`chainer.functions.n_step_gru`. The input of the second layer and of all that follow is
    the output of the previous layer, its directions side by side.

    With a positive dropout ratio, the input of each layer and direction passes through dropout,
    except in the first layer.

    ``select(x, hx, cx, layout=)``. ``cx`` is None unless the mode is ``'lstm'``.

    Methods:
        ``forward(x, hx, cx, ws, bs, layout) -> (y, hy, cy, residual)``: ``y`` of shape ``(T,
        directions * N)``. ``cy`` is None unless the mode is ``'lstm'``. The residual is opaque.

        ``backward(inputs, residual, gys, ghy, gcy, layout) -> (gx, ghx, gcx, gws, gbs)``.
        ``inputs`` is the tuple ``(x, hx, cx, ws, bs)``. ``gys`` is a list with the gradient of
        ``y`` at each time, since these are often separate arrays. Each of ``gys``, ``ghy`` and
        ``gcy`` may be None, for zeros.

        ``masks(residual) -> list``: for each layer and direction the factors that dropout
        multiplied its packed input by, or None. Gradients of gradients need them; a kernel that
        cannot tell raises RuntimeError.

    float16 is computed in float32.
    """

    name = "n_step_rnn"
    methods = ("forward", "backward", "masks")
    reference = "chainer.backends.numpy.kernels.rnns:NStepRNNKernel"


n_step_rnn = NStepRNN()
