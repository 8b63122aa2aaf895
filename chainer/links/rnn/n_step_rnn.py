"""Multi-layered recurrent networks for sequences: base class, and those without gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy

from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.utils.argument import assert_kwargs_empty, check_unexpected_kwargs
from chainer.functions.array.permutate import permutate
from chainer.functions.array.transpose_sequence import transpose_sequence
from chainer.functions.connection.n_step_rnn import n_step_birnn, n_step_rnn
from chainer.links.chain_list import ChainList
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.rnn._state import zeros
from chainer.links.size_inference import infer_channels

_USE_CUDNN_REMOVED = "use_cudnn argument is not supported anymore. Use chainer.using_config"
_TRAIN_REMOVED = "train argument is not supported anymore. Use chainer.using_config"


class NStepRNNBase(ChainList):
    """Base class for stacked recurrent networks.

    The children are the layers (in a bi-directional network two for each layer: forwards and
    backwards). Their parameters are ``w0``, ``w1``, ... and ``b0``, ``b1``, ...: the first half of
    the weights is applied to the input of the layer, the second half to its state.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Attributes:
        n_weights (int): Number of weights of a layer and direction.
        use_bi_direction (bool): Whether the network is bi-directional.
        n_cells (int): Number of states: 2 with cell states besides the hidden states, else 1.
        ws (list): Weights of each layer and direction.
        bs (list): Biases of each layer and direction.
    """

    n_weights: ClassVar[int]
    use_bi_direction: ClassVar[bool]

    def __init__(
        self,
        n_layers: int,
        in_size: int | None,
        out_size: int,
        dropout: float,
        *,
        initialW: Any = None,
        initial_bias: Any = None,
        **kwargs: Any,
    ) -> None:
        check_unexpected_kwargs(kwargs, use_cudnn=_USE_CUDNN_REMOVED)
        assert_kwargs_empty(kwargs)
        if n_layers < 1:
            raise ValueError(f"n_layers must be positive, got {n_layers}")
        directions = 2 if self.use_bi_direction else 1
        W = get_initializer(initialW)
        b = get_initializer(0 if initial_bias is None else initial_bias)
        layers = []
        for i in range(n_layers * directions):
            size = in_size if i < directions else directions * out_size
            layer = Link()
            with layer.init_scope():
                for j in range(self.n_weights):
                    columns = size if j < self.n_weights // 2 else out_size
                    shape = None if columns is None else (out_size, columns)
                    setattr(layer, f"w{j}", Parameter(W, shape))
                    setattr(layer, f"b{j}", Parameter(b, out_size))
            layers.append(layer)
        super().__init__(*layers)
        self.n_layers = n_layers
        self.in_size = in_size
        self.out_size = out_size
        self.dropout = dropout
        self.direction = directions

    def __str__(self) -> str:
        return Link.__str__(self)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "n_layers", self.n_layers
        yield "in_size", self.in_size
        yield "out_size", self.out_size
        yield "dropout", self.dropout

    @property
    def n_cells(self) -> int:
        """Number of states: 2 with cell states besides the hidden states, else 1."""
        return 1

    @property
    def ws(self) -> list[list[Parameter]]:
        """Weights of each layer and direction."""
        return [[getattr(layer, f"w{j}") for j in range(self.n_weights)] for layer in self]

    @property
    def bs(self) -> list[list[Parameter]]:
        """Biases of each layer and direction."""
        return [[getattr(layer, f"b{j}") for j in range(self.n_weights)] for layer in self]

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls the function of the network; subclasses define it.

        Args:
            args: ``n_layers``, ``dropout``, the states, ``ws``, ``bs`` and ``xs`` (the input of
                each time), as the function takes them.

        Returns:
            tuple: The new states and the list of the outputs of each time.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define rnn")

    def init_hx(self, xs: Any) -> Variable:
        """Returns an initial state of zeros.

        Args:
            xs (list of Variable): Input sequences.

        Returns:
            Variable: Zeros of shape ``(n_layers * directions, len(xs), out_size)``.
        """
        return zeros(self, (self.n_layers * self.direction, len(xs), self.out_size), xs[0].dtype)

    def _initialize_params(self, in_size: int) -> None:
        self.in_size = in_size
        for layer in self[: self.direction]:
            for j in range(self.n_weights // 2):
                getattr(layer, f"w{j}").initialize((self.out_size, in_size))

    def _apply(self, states: tuple[Any, ...], xs: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Sorts the sequences by length, transposes them, calls the function and undoes both."""
        check_unexpected_kwargs(kwargs, train=_TRAIN_REMOVED)
        assert_kwargs_empty(kwargs)
        if not isinstance(xs, (list, tuple)):
            raise TypeError(f"xs must be a list or a tuple of sequences, got {type(xs).__name__}")
        if not xs:
            raise ValueError("xs must have at least one sequence")
        if self[0].w0.array is None:
            self._initialize_params(infer_channels(self, xs[0], 2))
        order = sorted(range(len(xs)), key=lambda i: -len(xs[i]))
        is_sorted = order == list(range(len(xs)))
        indices = numpy.array(order, numpy.int32)
        states = tuple(
            self.init_hx(xs)
            if state is None
            else state
            if is_sorted
            else permutate(state, self._on_device(indices), axis=1)
            for state in states
        )
        steps = transpose_sequence([xs[i] for i in order])
        *states_new, ys = self.rnn(self.n_layers, self.dropout, *states, self.ws, self.bs, steps)
        ys = self._with_empty(transpose_sequence(ys), xs)
        if is_sorted:
            return (*states_new, ys)
        in_order: list[Any] = [None] * len(xs)
        for i, y in zip(order, ys):
            in_order[i] = y
        inverse = self._on_device(indices)
        return (*(permutate(s, inverse, axis=1, inv=True) for s in states_new), in_order)

    def _with_empty(self, ys: Sequence[Variable], xs: Sequence[Any]) -> list[Variable]:
        """Appends the outputs of empty sequences, which are not among those of any step."""
        shape = (0, self.direction * self.out_size)
        return [*ys, *(zeros(self, shape, xs[0].dtype) for _ in range(len(xs) - len(ys)))]

    def _on_device(self, indices: Any) -> Any:
        return self.device.send(indices)


class SingleStateNetwork(NStepRNNBase):
    """Networks whose units have one state, as those of RNN and GRU do."""

    def forward(self, hx: Any, xs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Calculates all hidden states.

        Args:
            hx (Variable or None): Initial hidden states of shape ``(S, B, N)``, or ``(2S, B, N)``
                in a bi-directional network: ``S`` layers, ``B`` sequences, ``N`` units. None for
                zeros.
            xs (list of Variable): Input sequences of shapes ``(L_i, I)``.

        Returns:
            tuple: ``hy``, the updated hidden states, of the shape of ``hx``, and ``ys``, the list
            of the hidden states of the last layer, of shapes ``(L_i, N)``, or ``(L_i, 2N)`` in a
            bi-directional network.
        """
        return self._apply((hx,), xs, kwargs)


class _NStepRNN(SingleStateNetwork):
    n_weights = 2
    activation: ClassVar[str]

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls :func:`chainer.functions.n_step_rnn`, or ``n_step_birnn``."""
        function = n_step_birnn if self.use_bi_direction else n_step_rnn
        return function(*args, activation=self.activation)


class NStepRNNTanh(_NStepRNN):
    """Stacked Uni-directional RNN with hyperbolic tangent units for sequences.

    Wraps :func:`chainer.functions.n_step_rnn` and holds the weights. Unlike that function it takes
    the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepRNNTanh(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, ys = l(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 2, 4), [(2, 4), (5, 4)])
    """

    use_bi_direction = False
    activation = "tanh"


class NStepBiRNNTanh(_NStepRNN):
    """Stacked Bi-directional RNN with hyperbolic tangent units for sequences.

    Wraps :func:`chainer.functions.n_step_birnn` and holds the weights. Unlike that function it
    takes the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepBiRNNTanh(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, ys = l(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((4, 2, 4), [(2, 8), (5, 8)])
    """

    use_bi_direction = True
    activation = "tanh"


class NStepRNNReLU(_NStepRNN):
    """Stacked Uni-directional RNN with rectifier units for sequences.

    Wraps :func:`chainer.functions.n_step_rnn` and holds the weights. Unlike that function it takes
    the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepRNNReLU(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, ys = l(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((2, 2, 4), [(2, 4), (5, 4)])
    """

    use_bi_direction = False
    activation = "relu"


class NStepBiRNNReLU(_NStepRNN):
    """Stacked Bi-directional RNN with rectifier units for sequences.

    Wraps :func:`chainer.functions.n_step_birnn` and holds the weights. Unlike that function it
    takes the sequences in any order of lengths, and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; if None, it is found out at the first call.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights; by keyword only.
        initial_bias (initializer): Initializer of the biases, zero by default; by keyword only.

    Example:
        >>> l = L.NStepBiRNNReLU(n_layers=2, in_size=3, out_size=4, dropout=0.5)
        >>> xs = [np.zeros((length, 3), np.float32) for length in (2, 5)]
        >>> hy, ys = l(None, xs)
        >>> hy.shape, [y.shape for y in ys]
        ((4, 2, 4), [(2, 8), (5, 8)])
    """

    use_bi_direction = True
    activation = "relu"
