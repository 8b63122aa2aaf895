"""Recurrent networks over whole sequences: one node for all layers, directions and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from chainer.backends.operations.rnns import n_step_rnn as operation
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.utils import type_check
from chainer.core.utils.argument import assert_kwargs_empty, check_unexpected_kwargs
from chainer.functions.connection._n_step_composition import n_step_composition
from chainer.functions.rules.compositions import gradients_of_composition

#: Number of weights (and of biases) of a layer, by mode.
WEIGHTS = {"lstm": 8, "gru": 6, "tanh": 2, "relu": 2}


class BaseNStepRNN(FunctionNode):
    """Stacked recurrent network over packed sequences.

    The inputs are ``hx``, ``cx`` if there is one, the weights, the biases, and one array for each
    time; the outputs ``hy``, ``cy`` if there is one, and one array for each time.

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

    def __init__(self, n_layers: int, ratio: float = 0.0) -> None:
        if not 0.0 <= ratio < 1.0:
            raise ValueError(f"dropout_ratio must be in the range [0, 1), got {ratio}")
        self.n_layers = n_layers
        self.ratio = ratio

    @property
    def _states(self) -> int:
        """Number of states: ``hx``, and with LSTM ``cx``."""
        return 2 if self.mode == "lstm" else 1

    @property
    def _parts(self) -> tuple[int, int]:
        """Indexes of the first bias and of the first element of the sequences among the inputs."""
        count = WEIGHTS[self.mode] * self.n_layers * self.directions
        return self._states + count, self._states + 2 * count

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        first_bias, first_x = self._parts
        type_check.expect(in_types.size() > first_x)
        h_type = in_types[0]
        type_check.expect(
            h_type.dtype.kind == "f",
            h_type.ndim == 3,
            h_type.shape[0] == self.n_layers * self.directions,
        )
        for other in in_types[1 : self._states]:
            type_check.expect(other.dtype == h_type.dtype, other.shape == h_type.shape)
        x_type = in_types[first_x]
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
        size = h_type.shape[2]
        count = WEIGHTS[self.mode]
        for i in range(self._states, first_bias):
            layer, number = divmod(i - self._states, count)
            if number >= count // 2:
                width = size
            elif layer < self.directions:
                width = x_type.shape[1]
            else:
                width = size * self.directions if self.directions > 1 else size
            w_type = in_types[i]
            type_check.expect(
                w_type.dtype == x_type.dtype,
                w_type.ndim == 2,
                w_type.shape[0] == size,
                w_type.shape[1] == width,
            )
        for i in range(first_bias, first_x):
            b_type = in_types[i]
            type_check.expect(
                b_type.dtype == x_type.dtype, b_type.ndim == 1, b_type.shape[0] == size
            )

    def _unpack(self, arrays: Sequence[Any]) -> tuple[Any, Any, list[list[Any]], list[list[Any]]]:
        """Returns states, weights and biases of the inputs."""
        count = WEIGHTS[self.mode]
        groups = self.n_layers * self.directions
        first_bias = self._parts[0]
        ws = [list(arrays[self._states + i * count :][:count]) for i in range(groups)]
        bs = [list(arrays[first_bias + i * count :][:count]) for i in range(groups)]
        return arrays[0], arrays[1] if self._states == 2 else None, ws, bs

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        first_x = self._parts[1]
        self.retain_inputs(range(len(inputs)))
        hx, cx, ws, bs = self._unpack(inputs)
        xs = inputs[first_x:]
        self._batch_sizes = tuple([len(x) for x in xs])
        # Kept for backward: cells refer to it, so that another one would take memory.
        x = self._x = xs[0] if len(xs) == 1 else self.xp.concatenate(xs)
        self._kernel = operation.select(
            x,
            hx,
            cx,
            mode=self.mode,
            layers=self.n_layers,
            directions=self.directions,
            batch_sizes=self._batch_sizes,
            ratio=self.ratio,
        )
        y, hy, cy, self._residual = self._kernel.forward(
            x, hx, cx, ws, bs, self.mode, self.directions, self._batch_sizes, self.ratio
        )
        states = (hy,) if cy is None else (hy, cy)
        return (*states, *_split(y, self._batch_sizes))

    def backward_arrays(
        self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        inputs = self.retained_input_arrays
        hx, cx, ws, bs = self._unpack(inputs)
        gx, ghx, gcx, gws, gbs = self._kernel.backward(
            self._x,
            hx,
            cx,
            ws,
            bs,
            self._residual,
            self._filled(grad_outputs[self._states :], hx),
            grad_outputs[0],
            grad_outputs[1] if self._states == 2 else None,
            self.mode,
            self.directions,
            self._batch_sizes,
            self.ratio,
        )
        gradients = [
            *([ghx] if gcx is None else [ghx, gcx]),
            *[g for group in gws for g in group],
            *[g for group in gbs for g in group],
            *_split(gx, self._batch_sizes),
        ]
        return tuple([gradients[i] for i in target_input_indexes])

    def _filled(self, gys: Sequence[Any], hx: Any) -> list[Any] | None:
        """Returns the gradients of the outputs; None if there is none."""
        if all([gy is None for gy in gys]):
            return None
        size = hx.shape[2] * self.directions
        return [
            self.xp.zeros((n, size), hx.dtype) if gy is None else gy
            for gy, n in zip(gys, self._batch_sizes, strict=True)
        ]

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        composition = n_step_composition(
            self.mode,
            self.n_layers,
            self.directions,
            self._batch_sizes,
            self._kernel.masks(self._residual) if self.ratio else None,
        )
        return gradients_of_composition(
            composition, self.get_retained_inputs(), target_input_indexes, grad_outputs
        )


def _split(packed: Any, batch_sizes: tuple[int, ...]) -> list[Any]:
    """Returns views of the elements of each time."""
    parts: list[Any] = []
    start = 0
    for n in batch_sizes:
        parts.append(packed[start : start + n])
        start += n
    return parts


def refuse_removed_arguments(kwargs: dict[str, Any]) -> None:
    """Raises for the arguments that recurrent networks had before version 2, and unknown ones."""
    if kwargs:
        check_unexpected_kwargs(
            kwargs,
            train="train argument is not supported anymore. Use chainer.using_config",
            use_cudnn="use_cudnn argument is not supported anymore. Use chainer.using_config",
        )
        assert_kwargs_empty(kwargs)


def apply_n_step(
    node_class: type[BaseNStepRNN],
    n_layers: int,
    dropout_ratio: float,
    states: Sequence[Any],
    ws: Sequence[Sequence[Any]],
    bs: Sequence[Sequence[Any]],
    xs: Sequence[Any],
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
        if state is None:
            raise TypeError(
                f"{name} must be a variable or an array, got None, which stands for zeros in the "
                "links of recurrent networks only"
            )
    groups = n_layers * node_class.directions
    count = WEIGHTS[node_class.mode]
    for name, lists, what in (("ws", ws, "weights"), ("bs", bs, "biases")):
        if len(lists) != groups:
            raise ValueError(f"{name} must have {groups} elements, got {len(lists)}")
        for i, group in enumerate(lists):
            if len(group) != count:
                raise ValueError(f"{name}[{i}] must have {count} {what}, got {len(group)}")
    if not xs:
        return (*[as_variable(state) for state in states], ())
    node = node_class(n_layers, dropout_ratio if config.train else 0.0)
    inputs: list[Any] = [*states]
    for lists in (ws, bs):
        for group in lists:
            inputs.extend(group)
    inputs.extend(xs)
    outputs: tuple[Variable, ...] = node.apply(inputs)
    count = len(states)
    return (*outputs[:count], outputs[count:])
