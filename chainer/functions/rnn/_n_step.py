"""Recurrent networks over whole sequences: one node for all layers, directions and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from chainer.backends.operations.rnns import WEIGHTS, Parameters, RNNLayout
from chainer.backends.operations.rnns import n_step_rnn as operation
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions._callable import CallableNode
from chainer.functions._errors import InvalidValue, expect_as
from chainer.functions.array.cast import in_dtype
from chainer.functions.rnn._n_step_composition import compose_n_step
from chainer.functions.rules import ComposedFunction

State: TypeAlias = VariableLike
"""Hidden states or cell states of all layers and directions."""

Weights: TypeAlias = Sequence[Sequence[VariableLike]]
"""Weights, or biases: one list for each layer and direction."""

Inputs: TypeAlias = Sequence[VariableLike]
"""The input of each time."""


class BaseNStepRNN(CallableNode, ComposedFunction):
    """Stacked recurrent network over packed sequences.

    The inputs are ``hx``, ``cx`` if there is one, the weights, the biases, and one array for each
    time. The outputs are ``hy``, ``cy`` if there is one, and one array for each time.

    Args:
        n_layers (int): Number of layers.
        ratio (float): Dropout ratio.

    Attributes:
        mode: Kind of cell.
        directions: Number of directions.
    """

    mode: ClassVar[str]
    directions: ClassVar[int] = 1
    type_check_key = ("n_layers",)

    def __init_subclass__(
        cls, mode: str | None = None, directions: int | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        # A subclass in another program may define the attributes in its class body.
        if mode is not None:
            cls.mode = mode
        if directions is not None:
            cls.directions = directions

    #: Whether masks are drawn although the ratio is 0, see :class:`RNNLayout`.
    draws: bool = False

    def __init__(self, n_layers: int, ratio: float = 0.0) -> None:
        # A ratio of one would drop every element.
        if not 0.0 <= ratio < 1.0:
            raise ValueError(f"dropout_ratio must be in the range [0, 1), got {ratio}")
        self.n_layers = n_layers
        self.ratio = ratio

    @property
    def states(self) -> int:
        """Number of states: ``hx``, and with LSTM ``cx``."""
        return 2 if self.mode == "lstm" else 1

    @property
    def _parts(self) -> tuple[int, int]:
        """Indexes of the first bias and of the first element of the sequences among the inputs."""
        count = WEIGHTS[self.mode] * self.n_layers * self.directions
        return self.states + count, self.states + 2 * count

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        first_x = self._parts[1]
        type_check.expect(in_types.size() > first_x)
        h_type = in_types[0]
        type_check.expect(
            h_type.dtype.kind == "f",
            h_type.ndim == 3,
            h_type.shape[0] == self.n_layers * self.directions,
        )
        for other in in_types[1 : self.states]:
            type_check.expect(other.dtype == h_type.dtype, other.shape == h_type.shape)
        # Check in this order, so that the error names the first input that does not fit.
        self._check_sequences(in_types)
        self._check_parameters(in_types)

    def _check_sequences(self, in_types: type_check.TypeInfoTuple) -> None:
        first_x = self._parts[1]
        h_type, x_type = in_types[0], in_types[first_x]
        type_check.expect(
            x_type.dtype == h_type.dtype,
            x_type.ndim == 2,
            x_type.shape[0] <= h_type.shape[1],
        )
        for i in range(first_x + 1, len(in_types)):
            type_check.expect(
                in_types[i].dtype == x_type.dtype,
                in_types[i].ndim == 2,
                in_types[i].shape[0] <= in_types[i - 1].shape[0],
                in_types[i].shape[1] == x_type.shape[1],
            )

    def _check_parameters(self, in_types: type_check.TypeInfoTuple) -> None:
        first_bias, first_x = self._parts
        x_type = in_types[first_x]
        size = in_types[0].shape[2]
        count = WEIGHTS[self.mode]
        for i in range(self.states, first_bias):
            layer, number = divmod(i - self.states, count)
            w_type = in_types[i]
            type_check.expect(w_type.dtype == x_type.dtype, w_type.ndim == 2)
            # Release 7 raised ValueError for an input of another size than the weights expect.
            error = type_check.InvalidType
            if number >= count // 2:
                width = size
            elif layer < self.directions:
                width, error = x_type.shape[1], InvalidValue
            else:
                width = size * self.directions if self.directions > 1 else size
            expect_as(error, w_type.shape[1] == width)
            type_check.expect(w_type.shape[0] == size)
        for i in range(first_bias, first_x):
            b_type = in_types[i]
            type_check.expect(
                b_type.dtype == x_type.dtype, b_type.ndim == 1, b_type.shape[0] == size
            )

    def _unpack(self, arrays: Arrays) -> tuple[Array, Array, Parameters, Parameters]:
        """Returns states, weights and biases of the inputs."""
        count = WEIGHTS[self.mode]
        groups = self.n_layers * self.directions
        first_bias = self._parts[0]
        ws = [list(arrays[self.states + i * count :][:count]) for i in range(groups)]
        bs = [list(arrays[first_bias + i * count :][:count]) for i in range(groups)]
        return arrays[0], arrays[1] if self.states == 2 else None, ws, bs

    def _layout_of(self, batch_sizes: tuple[int, ...]) -> RNNLayout:
        return RNNLayout(
            self.mode, self.n_layers, self.directions, batch_sizes, self.ratio, self.draws
        )

    def batched(
        self, inputs: Variables, are_batched: tuple[bool, ...], size: int
    ) -> Variables | None:
        # Each sample draws its own masks. Numbers that are drawn without use have no samples.
        if self.ratio:
            return None
        first_x = self._parts[1]
        pairs = zip(inputs[first_x:], are_batched[first_x:], strict=True)
        # The composition runs instead of forward(), which makes the layout otherwise.
        self._layout = self._layout_of(tuple([x.shape[int(b)] for x, b in pairs]))
        return super().batched(inputs, are_batched, size)

    def forward(self, inputs: Arrays) -> Arrays:
        first_x = self._parts[1]
        self.retain_inputs(range(len(inputs)))
        states_and_parameters = self._unpack(inputs)
        hx, cx, *_ = states_and_parameters
        xs = inputs[first_x:]
        batch_sizes = tuple([len(x) for x in xs])
        layout = self._layout = self._layout_of(batch_sizes)
        # Cells refer to the packed input. Keep it, so that backward does not pack a second copy.
        x = self._x = xs[0] if len(xs) == 1 else self.xp.concatenate(xs)
        self._kernel = operation.select(x, hx, cx, layout=layout)
        y, hy, cy, self._residual = self._kernel.forward(x, *states_and_parameters, layout)
        # Only LSTM has cell states.
        states = (hy,) if cy is None else (hy, cy)
        return (*states, *_split(y, batch_sizes))

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        states_and_parameters = self._unpack(self.retained_input_arrays)
        gx, ghx, gcx, gws, gbs = self._kernel.backward(
            (self._x, *states_and_parameters),
            self._residual,
            self._filled(grad_outputs[self.states :], states_and_parameters[0]),
            grad_outputs[0],
            grad_outputs[1] if self.states == 2 else None,
            self._layout,
        )
        gradients = [
            *([ghx] if gcx is None else [ghx, gcx]),
            *[g for group in gws for g in group],
            *[g for group in gbs for g in group],
            *_split(gx, self._layout.batch_sizes),
        ]
        return tuple([gradients[i] for i in target_input_indexes])

    def _filled(self, gys: ArrayGrads, hx: Array) -> list[Array] | None:
        """Returns the gradients of the outputs; None if there is none."""
        # Only the last states are used: the kernel skips the outputs.
        if all([gy is None for gy in gys]):
            return None
        size = hx.shape[2] * self.directions
        return [
            self.xp.zeros((n, size), hx.dtype) if gy is None else gy
            for gy, n in zip(gys, self._layout.batch_sizes, strict=True)
        ]

    def compose(self, *inputs: Variable) -> Variables:
        # Reuse the dropout masks: the gradient belongs to this call.
        masks = self._kernel.masks(self._residual) if self.ratio else None
        return compose_n_step(self._layout, masks, inputs)


def _split(packed: Array, batch_sizes: tuple[int, ...]) -> list[Array]:
    """Returns views of the elements of each time."""
    parts: list[Array] = []
    start = 0
    for n in batch_sizes:
        parts.append(packed[start : start + n])
        start += n
    return parts


def _check_groups(name: str, lists: Weights, what: str, groups: int, count: int) -> None:
    """Raises ValueError unless there is a list of ``count`` elements for each group."""
    if len(lists) != groups:
        raise ValueError(f"{name} must have {groups} elements, got {len(lists)}")
    for i, group in enumerate(lists):
        if len(group) != count:
            raise ValueError(f"{name}[{i}] must have {count} {what}, got {len(group)}")


def apply_n_step(
    node_class: type[BaseNStepRNN],
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[State],
    ws: Weights,
    bs: Weights,
    xs: Inputs,
) -> tuple[Any, ...]:
    """Applies a recurrent network.

    Args:
        node_class: Class of the node.
        n_layers: Number of layers.
        dropout_ratio: Dropout ratio; only used in training mode.
        states: ``hx``, or ``hx`` and ``cx``.
        ws: Weights of each layer and direction.
        bs: Biases of each layer and direction.
        xs: Input of each time.

    Returns:
        tuple: The last states and the tuple of the outputs of each time.
    """
    if not isinstance(xs, (list, tuple)):
        raise TypeError(f"xs must be a list or a tuple of variables, got {type(xs)}")
    for name, state in zip(("hx", "cx"), states, strict=False):
        # The links accept None, but here the size of an initial state of zeros is not known.
        if state is None:
            raise TypeError(
                f"{name} must be a variable or an array, got None, which means zeros in the "
                "links of recurrent networks only"
            )
    groups = n_layers * node_class.directions
    _check_groups("ws", ws, "weights", groups, WEIGHTS[node_class.mode])
    _check_groups("bs", bs, "biases", groups, WEIGHTS[node_class.mode])
    if not xs:
        return (*[as_variable(state) for state in states], ())
    node = node_class(n_layers, dropout_ratio if config.train else 0.0)
    node.draws = bool(config.train) and dropout_ratio == 0
    inputs: list[VariableLike] = [*states]
    if node_class.mode in ("tanh", "relu"):
        # As in linear, weights may have any dtype. But gates are joined into one array, so their
        # weights are cast to the same dtype.
        ws = [[in_dtype(w, xs[0].dtype) for w in group] for group in ws]
    for lists in (ws, bs):
        for group in lists:
            inputs.extend(group)
    inputs.extend(xs)
    outputs: Variables = node.apply(inputs)
    count = len(states)
    return (*outputs[:count], outputs[count:])
