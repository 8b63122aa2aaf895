"""Recurrent networks over whole sequences, composed of differentiable functions step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from chainer.backends.operations.rnns import WEIGHTS, RNNLayout
from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, Variables
from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.concat import concat
from chainer.functions.array.get_item import get_item
from chainer.functions.array.stack import stack
from chainer.functions.connection.linear import linear

Step: TypeAlias = Callable[..., tuple[Variable, Any]]
"""One step of a cell."""


def compose_n_step(
    layout: RNNLayout, masks: list[Array | None] | None, inputs: Variables
) -> Variables:
    """Computes a recurrent network with differentiable functions.

    Args:
        layout: Layout of the network.
        masks: Dropout factors of the packed input of each layer and direction, or None.
        inputs: Inputs of a node of :mod:`chainer.functions.rnn._n_step`.

    Returns:
        tuple: Outputs of the node.
    """
    mode, groups = layout.mode, layout.groups
    has_cells = mode == "lstm"
    count = WEIGHTS[mode]
    first_w = 2 if has_cells else 1
    first_b = first_w + count * groups
    first_x = first_b + count * groups
    ws = [inputs[first_w + i * count :][:count] for i in range(groups)]
    bs = [inputs[first_b + i * count :][:count] for i in range(groups)]
    hy, cy, ys = compose_layers(
        _STEPS[mode],
        layout.directions,
        (inputs[0], inputs[1] if has_cells else None),
        (ws, bs),
        list(inputs[first_x:]),
        lambda xs, i: _masked(xs, None if masks is None else masks[i]),
    )
    return (hy, *([] if cy is None else [cy]), *ys)


def compose_layers(
    step: Step,
    directions: int,
    states: tuple[Variable, Variable | None],
    parameters: tuple[Sequence[Any], Sequence[Any]],
    xs: list[Variable],
    dropped: Callable[[list[Variable], int], list[Variable]],
) -> tuple[Variable, Variable | None, list[Variable]]:
    """Runs the cells of all layers, directions and times.

    Args:
        step: One step of a cell: from input, states, weights and biases to the next states.
        directions: Number of directions.
        states: Hidden states and cell states, or None, of all layers and directions.
        parameters: Weights, and biases, of each layer and direction.
        xs: Input of each time.
        dropped: Dropout: from the inputs of a layer and direction, and its number, to its inputs.

    Returns:
        tuple: Last hidden states, last cell states or None, and the output of each time.
    """
    (hx, cx), (ws, bs) = states, parameters
    last_h: list[Variable] = []
    last_c: list[Variable] = []
    for layer in range(len(ws) // directions):
        outputs: list[list[Variable]] = []
        for direction in range(directions):
            i = layer * directions + direction
            h = get_item(hx, i)
            c = None if cx is None else get_item(cx, i)
            values = dropped(xs, i)
            times = range(len(xs))
            ys: list[Any] = [None] * len(xs)
            for t in reversed(times) if direction else times:
                # Sequences that have ended keep their state. They are last, because sequences are
                # sorted by length.
                n = len(values[t])
                h_now = get_item(h, slice(0, n))
                c_now = get_item(c, slice(0, n)) if c is not None else None
                h_new, c_new = step(values[t], h_now, c_now, ws[i], bs[i])
                ys[t] = h_new
                h = _updated(h, h_new)
                c = _updated(c, c_new) if c is not None else None
            outputs.append(ys)
            last_h.append(h)
            if c is not None:
                last_c.append(c)
        xs = (
            outputs[0]
            if directions == 1
            else [concat(pair, axis=1) for pair in zip(*outputs, strict=True)]
        )
    return stack(last_h), stack(last_c) if last_c else None, xs


def _masked(xs: list[Variable], mask: Array | None) -> list[Variable]:
    if mask is None:
        return xs
    values: list[Variable] = []
    start = 0
    for x in xs:
        values.append(x * mask[start : start + len(x)])
        start += len(x)
    return values


def _updated(state: Variable, new: Variable) -> Variable:
    """Returns a state whose first rows are new ones."""
    if len(new) == len(state):
        return new
    return concat((new, get_item(state, slice(len(new), None))), axis=0)


def lstm_step(
    x: Variable, h: Variable, c: Array, w: Variables, b: Variables
) -> tuple[Variable, Variable]:
    """Returns the next hidden states and cell states of an LSTM.

    Args:
        x: Input.
        h: Hidden states.
        c: Cell states.
        w: The eight weights.
        b: The eight biases.
    """
    i, f, a, o = (linear(x, w[k], b[k]) + linear(h, w[k + 4], b[k + 4]) for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(a)
    return sigmoid(o) * tanh(c), c


def gru_step(
    x: Variable, h: Variable, c: None, w: Variables, b: Variables
) -> tuple[Variable, None]:
    """Returns the next hidden states of a GRU, and None; see :func:`lstm_step`."""
    r, z = (sigmoid(linear(x, w[k], b[k]) + linear(h, w[k + 3], b[k + 3])) for k in range(2))
    candidate = tanh(linear(x, w[2], b[2]) + r * linear(h, w[5], b[5]))
    return (1 - z) * candidate + z * h, None


def _tanh(x: Variable, h: Variable, c: None, w: Variables, b: Variables) -> tuple[Variable, None]:
    return tanh(linear(x, w[0], b[0]) + linear(h, w[1], b[1])), None


def _relu(x: Variable, h: Variable, c: None, w: Variables, b: Variables) -> tuple[Variable, None]:
    return relu(linear(x, w[0], b[0]) + linear(h, w[1], b[1])), None


#: Mode -> one step of a cell.
_STEPS: dict[str, Step] = {
    "lstm": lstm_step,
    "gru": gru_step,
    "tanh": _tanh,
    "relu": _relu,
}
