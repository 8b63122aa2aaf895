"""Converters of recurrent networks over sequences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from onnx_chainer.converters.rules import rule
from onnx_chainer.nodes import Nodes

#: Mode -> operator, and the place of each of its gates among Chainer's.
_OPERATORS = {
    "lstm": ("LSTM", (0, 3, 1, 2)),  # the operator has i, o, f, c; Chainer i, f, c, o
    "gru": ("GRU", (1, 0, 2)),  # the operator has z, r, h; Chainer r, z, h
    "tanh": ("RNN", (0,)),
    "relu": ("RNN", (0,)),
}


def _layer_parameters(
    g: Nodes, w: list[list[str]], b: list[list[str]], order: Sequence[int]
) -> tuple[str, str, str]:
    """Returns the weights of the input, of the state, and the biases, in ONNX's order of gates."""
    of_state = [len(order) + k for k in order]
    return (
        _stacked(g, [[ws[k] for k in order] for ws in w]),
        _stacked(g, [[ws[k] for k in of_state] for ws in w]),
        _stacked(g, [[bs[k] for k in (*order, *of_state)] for bs in b]),
    )


@rule()
def BaseNStepRNN(g: Nodes, *inputs: str) -> list[str]:
    """One operator for each layer, with both directions.

    Inputs of a time are of as many sequences as reach it. They are padded to one length, and the
    operator gets the lengths.
    """
    func = g.func
    operator, order = _OPERATORS[func.mode]
    count = 2 * len(order)
    groups = func.n_layers * func.directions
    has_cells = func.mode == "lstm"
    first_w = func.states
    first_b = first_w + count * groups
    first_x = first_b + count * groups
    batch_sizes = [x.shape[0] for x in g.arrays[first_x:]]
    x, lengths = _packed(g, inputs[first_x:], g.arrays[first_x:], g.shape()[1])
    last_h: list[str] = []
    last_c: list[str] = []
    for layer in range(func.n_layers):
        if layer and func.ratio:
            x = _dropped(g, x, func.ratio)
        directions = range(layer * func.directions, (layer + 1) * func.directions)
        w = [list(inputs[first_w + i * count :][:count]) for i in directions]
        b = [list(inputs[first_b + i * count :][:count]) for i in directions]
        arguments = [
            x,
            *_layer_parameters(g, w, b, order),
            lengths,
            _states(g, inputs[0], layer),
        ]
        if has_cells:
            arguments.append(_states(g, inputs[1], layer))
        results = g(
            operator,
            *arguments,
            outputs=3 if has_cells else 2,
            hidden_size=g.shape()[2],
            direction="bidirectional" if func.directions == 2 else "forward",
            linear_before_reset=1 if func.mode == "gru" else None,
            activations=["Relu"] * func.directions if func.mode == "relu" else None,
        )
        last_h.append(results[1])
        if has_cells:
            last_c.append(results[2])
        # (time, direction, batch, unit) -> (time, batch, direction x unit)
        x = g("Reshape", g.transpose(results[0], [0, 2, 1, 3]), g.ints([0, 0, -1]))
    states = [_joined(g, last_h)] + ([_joined(g, last_c)] if has_cells else [])
    return states + _unpacked(g, x, batch_sizes, g.shape()[1])


def _packed(g: Nodes, xs: tuple[str, ...], arrays: tuple, batch: int) -> tuple[str, str]:
    """Returns the inputs as one array (time, batch, unit), and the lengths of the sequences."""
    batch_sizes = [x.shape[0] for x in arrays]
    if all([n == batch for n in batch_sizes]):
        steps = [g.unsqueeze(x, [0]) for x in xs]
        return (steps[0] if len(steps) == 1 else g("Concat", *steps, axis=0)), ""
    lengths = [sum([n > i for n in batch_sizes]) for i in range(batch)]
    if 0 in lengths:
        raise g.unsupported("sequences that are shorter than one element")
    size = arrays[0].shape[1]
    dtype = arrays[0].dtype
    # A row of zeros at the end is what sequences that have ended are padded with.
    rows = g("Concat", *xs, g.const(numpy.zeros((1, size)), dtype), axis=0)
    starts = numpy.cumsum([0, *batch_sizes])
    index = numpy.full((len(xs), batch), starts[-1])
    for t, n in enumerate(batch_sizes):
        index[t, :n] = starts[t] + numpy.arange(n)
    return g.gather(rows, index), g.const(lengths, numpy.int32)


def _unpacked(g: Nodes, y: str, batch_sizes: list[int], batch: int) -> list[str]:
    """Returns the output of each time, for the sequences that reach it."""
    steps = [g.squeeze(step, [0]) for step in g.split(y, [1] * len(batch_sizes), 0)]
    return [
        step if n == batch else g.slice(step, [0], [n], [0])
        for step, n in zip(steps, batch_sizes, strict=True)
    ]


def _stacked(g: Nodes, parameters: list[list[str]]) -> str:
    """Joins the gates of each direction, and then the directions."""
    joined = [
        g.unsqueeze(gates[0] if len(gates) == 1 else g("Concat", *gates, axis=0), [0])
        for gates in parameters
    ]
    return joined[0] if len(joined) == 1 else g("Concat", *joined, axis=0)


def _states(g: Nodes, states: str, layer: int) -> str:
    if g.func.n_layers == 1:
        return states
    n = g.func.directions
    return g.slice(states, [layer * n], [(layer + 1) * n], [0])


def _joined(g: Nodes, states: list[str]) -> str:
    return states[0] if len(states) == 1 else g("Concat", *states, axis=0)


def _dropped(g: Nodes, x: str, ratio: float) -> str:
    from onnx_chainer.converters.noise import drop

    return drop(g, x, ratio)
