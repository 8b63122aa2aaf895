"""The recurrent operators LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import chainer.functions as F
from chainer import Variable
from onnx_chainer.importing.values import array_of, ints_of

#: Operator -> the places of Chainer's gates among those of the operator.
_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}


def _operator(name: str) -> Callable[..., Any]:
    order = _GATES[name]

    def compute(
        attributes: Any,
        x: Any,
        w: Any,
        r: Any,
        b: Any = None,
        lengths: Any = None,
        h: Any = None,
        c: Any = None,
        peepholes: Any = None,
    ) -> Any:
        direction = attributes.get("direction", "forward")
        if direction == "reverse" or peepholes is not None or attributes.get("layout", 0):
            raise ValueError(f"{name} with reverse direction, peepholes or layout cannot be loaded")
        if name == "GRU" and not attributes.get("linear_before_reset", 0):
            raise ValueError("GRU without linear_before_reset cannot be loaded")
        network: Any = _function(name, attributes, direction == "bidirectional")
        steps, batch = x.shape[:2]
        directions, _, units = r.shape
        dtype = array_of(x).dtype
        if b is None:
            b = numpy.zeros((directions, 2 * len(order) * units), dtype)
        zeros = numpy.zeros((directions, batch, units), dtype)
        ws = [_gates(w[d], order, units) + _gates(r[d], order, units) for d in range(directions)]
        half = len(order) * units
        bs = [
            _gates(b[d][:half], order, units) + _gates(b[d][half:], order, units)
            for d in range(directions)
        ]
        counts = [steps] * batch if lengths is None else ints_of(lengths)
        # Longest first, as Chainer's functions want them.
        ranks = numpy.argsort([-n for n in counts], kind="stable")
        xs = [F.get_item(x, (slice(0, counts[i]), int(i))) for i in ranks]
        states = [zeros if h is None else h]
        if name == "LSTM":
            states.append(zeros if c is None else c)
        states = [F.get_item(_variable(s), (slice(None), ranks)) for s in states]
        # Chainer's functions take the inputs of each time, not those of each sequence.
        *last, ys = network(1, 0.0, *states, ws, bs, F.transpose_sequence(xs))
        ys = F.transpose_sequence(ys)
        back = numpy.argsort(ranks)
        y = F.pad_sequence([ys[int(i)] for i in back], steps)  # (batch, time, direction x unit)
        y = F.reshape(y, (batch, steps, directions, units))
        results = [F.transpose(y, (1, 2, 0, 3))]
        results += [F.get_item(state, (slice(None), back)) for state in last]
        return tuple(results)

    return compute


def _function(name: str, attributes: Any, both: bool) -> Any:
    """Returns the function of Chainer for the activations of an operator."""
    given = [a.lower() for a in attributes.get("activations", [])]
    defaults = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
    wanted = defaults[name] * (2 if both else 1)
    if name == "RNN" and given and set(given) == {"relu"}:
        return _n_step_rnn("relu", both)
    if given and given != wanted:
        raise ValueError(f"{name} with the activations {given} cannot be loaded")
    functions: dict[str, Any] = {
        "LSTM": (F.n_step_lstm, F.n_step_bilstm),
        "GRU": (F.n_step_gru, F.n_step_bigru),
        "RNN": (_n_step_rnn("tanh", False), _n_step_rnn("tanh", True)),
    }
    return functions[name][both]


def _n_step_rnn(activation: str, both: bool) -> Callable[..., Any]:
    function: Any = F.n_step_birnn if both else F.n_step_rnn

    def compute(*args: Any) -> Any:
        return function(*args, activation)

    return compute


def _gates(parameters: Any, order: tuple[int, ...], units: int) -> list[Any]:
    """Returns the parameters of each gate, in Chainer's order."""
    parameters = _variable(parameters)
    return [F.get_item(parameters, slice(k * units, (k + 1) * units)) for k in order]


def _variable(value: Any) -> Variable:
    return value if isinstance(value, Variable) else Variable(value, requires_grad=False)


OPERATORS: dict[str, Callable[..., Any]] = {name: _operator(name) for name in _GATES}
