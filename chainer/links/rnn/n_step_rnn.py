"""Multi-layered recurrent networks for sequences: base class, and those without gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar

import numpy

from chainer.core.arrays.device_resident import device_of
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, InitializerLike, VariableLike
from chainer.core.utils.argument import REMOVED_TRAIN, REMOVED_USE_CUDNN, removed_arguments
from chainer.functions.array import permutate, transpose_sequence
from chainer.functions.rnn.n_step_rnn import n_step_birnn, n_step_rnn
from chainer.links.chain_list import ChainList
from chainer.links.errors import InvalidArgumentTypeError
from chainer.links.initializers import get_initializer
from chainer.links.link import Link
from chainer.links.rnn._state import zeros
from chainer.links.size_inference import infer_channels

_T = TypeVar("_T")


class NStepRNNBase(ChainList):
    """Base class of stacked recurrent networks for sequences.

    The children are the layers; in a bi-directional network there are two for each layer: forwards
    and backwards. Their parameters are ``w0``, ``w1``, ... and ``b0``, ``b1``, ...: the first half
    of the weights is applied to the input of the layer, the second half to its state.

    Unlike the functions that compute them, the links take the sequences in any order of lengths,
    and not transposed.

    Args:
        n_layers (int): Number of layers.
        in_size (int or None): Size of input vectors; inferred at the first call if None.
        out_size (int): Size of hidden states and output vectors.
        dropout (float): Dropout ratio, between layers and in training mode only.
        initialW (initializer): Initializer of the weights.
        initial_bias (initializer): Initializer of the biases; zero by default.

    Attributes:
        n_layers (int): Number of layers.
        out_size (int): Size of hidden states.
        dropout (float): Dropout ratio.
        direction (int): Number of directions.
        n_weights (int): Number of weights of a layer and direction.
        use_bi_direction (bool): Whether the network is bi-directional.
        n_cells (int): Number of states: 2 with cell states besides the hidden states, else 1.
        ws (list): Weights of each layer and direction.
        bs (list): Biases of each layer and direction.
    """

    n_weights: ClassVar[int]
    use_bi_direction: ClassVar[bool]
    # Networks restored from pickles of older releases lack the attribute.
    in_size: int | None = None

    @removed_arguments(
        use_cudnn=REMOVED_USE_CUDNN,
        use_bi_direction="use_bi_direction is not supported anymore",
        activation="activation is not supported anymore",
    )
    def __init__(
        self,
        n_layers: int,
        in_size: int | None,
        out_size: int,
        dropout: float,
        *,
        initialW: InitializerLike = None,
        initial_bias: InitializerLike = None,
    ) -> None:
        if n_layers < 1:
            raise ValueError(f"n_layers must be positive, got {n_layers}")
        directions = 2 if self.use_bi_direction else 1
        W = get_initializer(initialW)
        b = get_initializer(initial_bias, default=0)
        layers: list[Link] = []
        for i in range(n_layers * directions):
            # Above the first layer, the input is the output of both directions.
            size = in_size if i < directions else directions * out_size
            layer = Link()
            with layer.init_scope():
                for j in range(self.n_weights):
                    # The first half of the weights multiplies the input, the other half the state.
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
        # The arguments tell more than the layers, which are links without specifications.
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

    # The lists are made at each access, because a copy of the network has other parameters.

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

    def init_hx(self, xs: Sequence[VariableLike]) -> Variable:
        """Returns an initial state of zeros.

        Args:
            xs (list of Variable): Input sequences.

        Returns:
            Variable: Zeros of shape ``(n_layers * directions, len(xs), out_size)``, of the dtype of
            the first sequence.
        """
        return zeros(self, (self.n_layers * self.direction, len(xs), self.out_size), xs[0].dtype)

    def _initialize_params(self, in_size: int) -> None:
        self.in_size = in_size
        for layer in self[: self.direction]:
            for j in range(self.n_weights // 2):
                getattr(layer, f"w{j}").initialize((self.out_size, in_size))

    def _apply(
        self, states: tuple[VariableLike | None, ...], xs: Sequence[VariableLike]
    ) -> tuple[Any, ...]:
        """Sorts the sequences by length, transposes them, calls the function and undoes both."""
        if not isinstance(xs, (list, tuple)):
            raise InvalidArgumentTypeError(
                f"xs must be a list or a tuple of sequences, got {type(xs).__name__}"
            )
        if not xs:
            raise ValueError("xs must have at least one sequence")
        if self[0].w0.array is None:
            self._initialize_params(infer_channels(self, xs[0], 2))
        indices = argsort_list_descent(xs)
        # Batches are usually sorted; then nothing has to be copied.
        is_sorted = bool((indices == numpy.arange(len(xs))).all())
        states = tuple(
            self.init_hx(xs)
            if state is None
            else state
            if is_sorted
            else permutate.permutate(state, self._on_device(indices), axis=1)
            for state in states
        )
        # The function expects the inputs of each time, of sequences of descending length.
        steps = transpose_sequence.transpose_sequence(permutate_list(xs, indices, inv=False))
        *states_new, ys = self.rnn(self.n_layers, self.dropout, *states, self.ws, self.bs, steps)
        ys = self._with_empty(transpose_sequence.transpose_sequence(ys), xs)
        if is_sorted:
            return (*states_new, ys)
        inverse = self._on_device(indices)
        states_new = [permutate.permutate(state, inverse, axis=1, inv=True) for state in states_new]
        return (*states_new, permutate_list(ys, indices, inv=True))

    def _with_empty(self, ys: Sequence[Variable], xs: Sequence[VariableLike]) -> list[Variable]:
        """Appends the outputs of empty sequences, which have no steps."""
        shape = (0, self.direction * self.out_size)
        return [*ys, *(zeros(self, shape, xs[0].dtype) for _ in range(len(xs) - len(ys)))]

    def _on_device(self, indices: Array) -> Array:
        return device_of(self).send(indices)


def argsort_list_descent(lst: Sequence[Any]) -> numpy.ndarray:
    """Returns the indices that sort a list by descending length of its elements.

    Args:
        lst (list of sequences): The list. Elements of the same length keep their order.

    Returns:
        numpy.ndarray: Indices, int32.

    Example:
        >>> from chainer.links.rnn.n_step_rnn import argsort_list_descent
        >>> argsort_list_descent(['a', 'bcd', 'ef'])
        array([1, 2, 0], dtype=int32)
    """
    lengths = numpy.array([len(x) for x in lst])
    return numpy.argsort(-lengths, kind="stable").astype(numpy.int32)


def permutate_list(
    lst: Sequence[_T], indices: Sequence[int] | numpy.ndarray, inv: bool
) -> list[_T]:
    """Returns a list in another order.

    Args:
        lst (list): The list.
        indices (array of ints): Position in ``lst`` of each element of the result.
        inv (bool): If True, the inverse permutation is applied: it takes the result of the same
            call with False back to ``lst``.

    Returns:
        list: The elements of ``lst``.

    Example:
        >>> from chainer.links.rnn.n_step_rnn import permutate_list
        >>> permutate_list(['a', 'b', 'c'], [1, 2, 0], inv=False)
        ['b', 'c', 'a']
        >>> permutate_list(['b', 'c', 'a'], [1, 2, 0], inv=True)
        ['a', 'b', 'c']
    """
    if not inv:
        return [lst[i] for i in indices]
    result = list(lst)
    for i, value in zip(indices, lst):
        result[i] = value
    return result


class SingleStateNetwork(NStepRNNBase):
    """Base class of networks whose units have one state: RNN and GRU."""

    @removed_arguments(train=REMOVED_TRAIN)
    def forward(
        self, hx: VariableLike | None, xs: Sequence[VariableLike]
    ) -> tuple[Variable, list[Variable]]:
        """Calculates all hidden states.

        Args:
            hx (Variable or None): Initial hidden states of shape ``(S, B, N)``, or ``(2S, B, N)``
                in a bi-directional network: ``S`` layers, ``B`` sequences, ``N`` units. None means
                zeros.
            xs (list of Variable): Input sequences of shapes ``(L_i, I)``.

        Returns:
            tuple: ``hy``, the updated hidden states, of the shape of ``hx``, and ``ys``, the list
            of the hidden states of the last layer, of shapes ``(L_i, N)``, or ``(L_i, 2N)`` in a
            bi-directional network.
        """
        hy, ys = self._apply((hx,), xs)
        return hy, ys


class _NStepRNN(SingleStateNetwork):
    n_weights = 2
    activation: ClassVar[str]

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Calls :func:`chainer.functions.n_step_rnn`, or ``n_step_birnn``."""
        function = n_step_birnn if self.use_bi_direction else n_step_rnn
        return function(*args, activation=self.activation)


class NStepRNNTanh(_NStepRNN):
    """Stacked Uni-directional RNN with hyperbolic tangent units for sequences.

    Wraps :func:`chainer.functions.n_step_rnn` and holds the weights. It has the same
    arguments and attributes as :class:`~chainer.links.rnn.n_step_rnn.NStepRNNBase`.

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

    It is :class:`~chainer.links.NStepRNNTanh` in both directions, by
    :func:`chainer.functions.n_step_birnn`: twice as many states, and outputs of twice the size.

    Example:
        >>> L.NStepBiRNNTanh(n_layers=2, in_size=3, out_size=4, dropout=0.5).ws[2][0].shape
        (4, 8)
    """

    use_bi_direction = True
    activation = "tanh"


class NStepRNNReLU(_NStepRNN):
    """Stacked Uni-directional RNN with rectifier units for sequences.

    It is :class:`~chainer.links.NStepRNNTanh` with another activation function.

    Example:
        >>> rnn = L.NStepRNNReLU(n_layers=1, in_size=3, out_size=2, dropout=0)
        >>> xs = [np.ones((4, 3), np.float32), np.ones((2, 3), np.float32)]
        >>> h, ys = rnn(None, xs)
        >>> h.shape, [y.shape for y in ys]
        ((1, 2, 2), [(4, 2), (2, 2)])
    """

    use_bi_direction = False
    activation = "relu"


class NStepBiRNNReLU(_NStepRNN):
    """Stacked Bi-directional RNN with rectifier units for sequences.

    It is :class:`~chainer.links.NStepBiRNNTanh` with another activation function.

    Example:
        >>> rnn = L.NStepBiRNNReLU(n_layers=1, in_size=3, out_size=2, dropout=0)
        >>> xs = [np.ones((4, 3), np.float32), np.ones((2, 3), np.float32)]
        >>> h, ys = rnn(None, xs)
        >>> h.shape, [y.shape for y in ys]
        ((2, 2, 2), [(4, 4), (2, 4)])
    """

    use_bi_direction = True
    activation = "relu"
