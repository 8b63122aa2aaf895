"""Recurrent networks over whole sequences, composed of differentiable functions step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def compose_n_step(
    layout: RNNLayout, masks: list[Array | None] | None, inputs: Variables
) -> Variables:
    """Computes a recurrent network with differentiable functions.

    Args:
        layout: Layout of the network.
        masks: Dropout factors of the packed input of each layer and direction, or None.
        inputs: Inputs of a node of :mod:`chainer.functions.connection._n_step`.

    Returns:
        tuple: Outputs of the node.
    """
    mode, layers, directions, batch_sizes, _ = layout
    has_cells = mode == "lstm"
    count, groups = WEIGHTS[mode], layout.groups
    first_w = 2 if has_cells else 1
    first_b = first_w + count * groups
    first_x = first_b + count * groups
    xs = list(inputs[first_x:])
    last_h: list[Variable] = []
    last_c: list[Variable] = []
    for layer in range(layers):
        outputs: list[list[Variable]] = []
        for direction in range(directions):
            i = layer * directions + direction
            w = inputs[first_w + i * count :][:count]
            b = inputs[first_b + i * count :][:count]
            h = get_item(inputs[0], i)
            c = get_item(inputs[1], i) if has_cells else None
            values = _masked(xs, None if masks is None else masks[i])
            times = range(len(xs))
            ys: list[Any] = [None] * len(xs)
            for t in reversed(times) if direction else times:
                # Sequences that have ended keep their state.
                n = batch_sizes[t]
                h_now = get_item(h, slice(0, n))
                c_now = get_item(c, slice(0, n)) if c is not None else None
                h_new, c_new = _STEPS[mode](values[t], h_now, c_now, w, b)
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
    states = [stack(last_h)] + ([stack(last_c)] if has_cells else [])
    return (*states, *xs)


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


def _lstm(
    x: Variable, h: Variable, c: Any, w: Variables, b: Variables
) -> tuple[Variable, Variable]:
    i, f, a, o = (linear(x, w[k], b[k]) + linear(h, w[k + 4], b[k + 4]) for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(a)
    return sigmoid(o) * tanh(c), c


def _gru(x: Variable, h: Variable, c: None, w: Variables, b: Variables) -> tuple[Variable, None]:
    r, z = (sigmoid(linear(x, w[k], b[k]) + linear(h, w[k + 3], b[k + 3])) for k in range(2))
    candidate = tanh(linear(x, w[2], b[2]) + r * linear(h, w[5], b[5]))
    return (1 - z) * candidate + z * h, None


def _tanh(x: Variable, h: Variable, c: None, w: Variables, b: Variables) -> tuple[Variable, None]:
    return tanh(linear(x, w[0], b[0]) + linear(h, w[1], b[1])), None


def _relu(x: Variable, h: Variable, c: None, w: Variables, b: Variables) -> tuple[Variable, None]:
    return relu(linear(x, w[0], b[0]) + linear(h, w[1], b[1])), None


#: Mode -> one step of a cell.
_STEPS: dict[str, Callable[..., tuple[Variable, Any]]] = {
    "lstm": _lstm,
    "gru": _gru,
    "tanh": _tanh,
    "relu": _relu,
}
