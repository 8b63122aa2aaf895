"""Simple recurrent network over whole sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainer.core.autograd.variable import Variable, as_variable
from chainer.functions.noise.dropout import dropout
from chainer.functions.rnn._n_step import (
    BaseNStepRNN,
    Inputs,
    State,
    Weights,
    apply_n_step,
)
from chainer.functions.rnn._n_step_composition import compose_layers
from chainer.functions.rnn._n_step_documentation import by_use_of_directions, documented


class NStepRNNTanh(BaseNStepRNN, mode="tanh"):
    """Stacked uni-directional network with tanh."""


class NStepBiRNNTanh(BaseNStepRNN, mode="tanh", directions=2):
    """Stacked bi-directional network with tanh."""


class NStepRNNReLU(BaseNStepRNN, mode="relu"):
    """Stacked uni-directional network with relu."""


class NStepBiRNNReLU(BaseNStepRNN, mode="relu", directions=2):
    """Stacked bi-directional network with relu."""


_CLASSES: dict[tuple[str, bool], type[BaseNStepRNN]] = {
    ("tanh", False): NStepRNNTanh,
    ("tanh", True): NStepBiRNNTanh,
    ("relu", False): NStepRNNReLU,
    ("relu", True): NStepBiRNNReLU,
}


def _class_for(activation: str, use_bi_direction: bool) -> type[BaseNStepRNN]:
    # A node class for each, as programs that read graphs know them by name.
    node_class = _CLASSES.get((activation, use_bi_direction))
    if node_class is None:
        raise ValueError(f'Invalid activation: "{activation}". Please select from [tanh,relu]')
    return node_class


@documented("tanh", 1, "NStepRNNTanh", "NStepRNNReLU")
def n_step_rnn(
    n_layers: int,
    dropout_ratio: float,
    hx: State,
    ws: Weights,
    bs: Weights,
    xs: Inputs,
    activation: str = "tanh",
) -> tuple[Any, ...]:
    r"""Stacked Uni-directional RNN function for sequence inputs.

    It computes hidden states :math:`h_t` for each time :math:`t` from input :math:`x_t`, with an
    activation function :math:`f`:

    .. math::

        h_t = f(W_0 x_t + W_1 h_{t-1} + b_0 + b_1)
    """
    node_class = _class_for(activation, False)
    return apply_n_step(node_class, n_layers, dropout_ratio, (hx,), ws, bs, xs)


@documented("tanh", 2, "NStepBiRNNTanh", "NStepBiRNNReLU")
def n_step_birnn(
    n_layers: int,
    dropout_ratio: float,
    hx: State,
    ws: Weights,
    bs: Weights,
    xs: Inputs,
    activation: str = "tanh",
) -> tuple[Any, ...]:
    r"""Stacked Bi-directional RNN function for sequence inputs.

    It runs :func:`n_step_rnn` over the sequences in both directions, with parameters of their own
    (:math:`W^f, b^f` forward and :math:`W^b, b^b` backward), and puts the hidden states of a time
    side by side: :math:`h_t = [h^f_t; h^b_t]`.
    """
    node_class = _class_for(activation, True)
    return apply_n_step(node_class, n_layers, dropout_ratio, (hx,), ws, bs, xs)


n_step_rnn_base = by_use_of_directions(n_step_rnn, n_step_birnn)


def n_step_rnn_impl(
    f: Callable[..., tuple[Variable, Any]],
    n_layers: int,
    dropout_ratio: float,
    hx: State,
    cx: State | None,
    ws: Weights,
    bs: Weights,
    xs: Inputs,
    use_bi_direction: bool,
) -> tuple[Variable, Variable | None, tuple[Variable, ...]]:
    """Runs a stacked recurrent network whose cell is a function, step by step.

    Args:
        f (callable): One step: called with the input, the hidden states, the cell states or None,
            the weights and the biases. It returns the next hidden states and cell states.
        n_layers (int): See :func:`n_step_rnn`, as for the following arguments.
        dropout_ratio (float): Dropout ratio between layers; only used in training mode.
        hx (~chainer.Variable or array): Initial hidden states.
        cx (~chainer.Variable or array): Initial cell states; None if the cell has none.
        ws (list of list of ~chainer.Variable or array): Weights.
        bs (list of list of ~chainer.Variable or array): Biases.
        xs (list of ~chainer.Variable or array): Input of each time.
        use_bi_direction (bool): Whether there are two directions.

    Returns:
        tuple: ``hy``, ``cy`` (None if the cell has none) and ``ys``.
    """
    directions = 2 if use_bi_direction else 1
    groups = n_layers * directions

    def dropped(values: list[Variable], i: int) -> list[Variable]:
        # The input of the first layer is not dropped.
        return values if i < directions else [dropout(x, dropout_ratio) for x in values]

    states = (as_variable(hx), None if cx is None else as_variable(cx))
    inputs = [as_variable(x) for x in xs]
    # No kernel knows the cell, so each step is a part of the graph.
    hy, cy, ys = compose_layers(f, directions, states, (ws[:groups], bs[:groups]), inputs, dropped)
    return hy, cy, tuple(ys)
