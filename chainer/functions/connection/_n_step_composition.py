"""Recurrent networks over whole sequences, composed of differentiable functions step by step."""

from __future__ import annotations

from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.functions.activation.relu import relu
from chainer.functions.activation.sigmoid import sigmoid
from chainer.functions.activation.tanh import tanh
from chainer.functions.array.concat import concat
from chainer.functions.array.get_item import get_item
from chainer.functions.array.stack import stack
from chainer.functions.connection.linear import linear
from chainer.functions.rules.compositions import Composition


def n_step_composition(
    mode: str,
    n_layers: int,
    directions: int,
    batch_sizes: tuple[int, ...],
    masks: list[Any] | None,
) -> Composition:
    """Returns the composition that a node of :mod:`chainer.functions.connection._n_step` computes.

    Args:
        mode: ``'lstm'``, ``'gru'``, ``'tanh'`` or ``'relu'``.
        n_layers: Number of layers.
        directions: Number of directions.
        batch_sizes: Number of sequences that are alive at each time.
        masks: Dropout factors of the packed input of each layer and direction, or None.
    """
    has_cells = mode == "lstm"
    count = {"lstm": 8, "gru": 6}.get(mode, 2)
    groups = n_layers * directions
    steps = {"lstm": _lstm, "gru": _gru, "tanh": _tanh, "relu": _relu}
    step = steps[mode]

    def run(*inputs: Variable) -> tuple[Variable, ...]:
        first_w = 2 if has_cells else 1
        first_b = first_w + count * groups
        first_x = first_b + count * groups
        xs = list(inputs[first_x:])
        last_h: list[Variable] = []
        last_c: list[Variable] = []
        for layer in range(n_layers):
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
                    n = batch_sizes[t]
                    h_now = get_item(h, slice(0, n))
                    c_now = get_item(c, slice(0, n)) if c is not None else None
                    h_new, c_new = step(values[t], h_now, c_now, w, b)
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

    return run


def _masked(xs: list[Variable], mask: Any) -> list[Variable]:
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


def _lstm(x: Any, h: Any, c: Any, w: Any, b: Any) -> tuple[Any, Any]:
    i, f, a, o = (linear(x, w[k], b[k]) + linear(h, w[k + 4], b[k + 4]) for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(a)
    return sigmoid(o) * tanh(c), c


def _gru(x: Any, h: Any, c: Any, w: Any, b: Any) -> tuple[Any, Any]:
    r, z = (sigmoid(linear(x, w[k], b[k]) + linear(h, w[k + 3], b[k + 3])) for k in range(2))
    candidate = tanh(linear(x, w[2], b[2]) + r * linear(h, w[5], b[5]))
    return (1 - z) * candidate + z * h, None


def _tanh(x: Any, h: Any, c: Any, w: Any, b: Any) -> tuple[Any, Any]:
    return tanh(linear(x, w[0], b[0]) + linear(h, w[1], b[1])), None


def _relu(x: Any, h: Any, c: Any, w: Any, b: Any) -> tuple[Any, Any]:
    return relu(linear(x, w[0], b[0]) + linear(h, w[1], b[1])), None
