"""The recurrent operators LSTM, GRU and RNN.

The usual forms run by Chainer's functions for sequences (``n_step_lstm`` and so on). Others, with
peepholes, clipping or other activations, run step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

import chainer.functions as F
from chainer import Variable
from chainer.backend import get_array_module
from onnx_chainer.importing.attributes import Attributes
from onnx_chainer.importing.values import Tensor, array_of, ints_of

if TYPE_CHECKING:
    from chainer.typing import Array

#: Operator -> the places of Chainer's gates among the operator's gates.
_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}

_DEFAULTS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}


def _operator(name: str) -> Callable[..., Any]:
    def compute(
        attributes: Attributes,
        x: Array,
        w: Array,
        r: Array,
        b: Array = None,
        lengths: Tensor | None = None,
        h: Array = None,
        c: Array = None,
        peepholes: Array = None,
    ) -> tuple[Tensor, ...]:
        batch_first = bool(attributes.get("layout", 0))
        if batch_first:
            x = F.swapaxes(x, 0, 1)
            h, c = (None if v is None else F.swapaxes(v, 0, 1) for v in (h, c))
        steps, batch = array_of(x).shape[:2]
        counts = [steps] * batch if lengths is None else ints_of(lengths)
        states = [_state(h, x, r)] + ([_state(c, x, r)] if name == "LSTM" else [])
        if _is_usual(name, attributes, peepholes):
            y, last = _by_sequences(name, attributes, x, w, r, b, counts, states)
        else:
            y, last = _step_by_step(name, attributes, x, w, r, b, counts, states, peepholes)
        if batch_first:
            # From (time, direction, batch, unit) to (batch, time, direction, unit).
            y = F.transpose(y, (2, 0, 1, 3))
            last = [F.swapaxes(state, 0, 1) for state in last]
        return (y, *last)

    return compute


def _state(value: Tensor, x: Tensor, r: Tensor) -> Variable:
    """Returns an initial state, zeros if it is left out."""
    if value is not None:
        return _variable(value)
    directions, _, units = array_of(r).shape
    array = array_of(x)
    shape = (directions, array.shape[1], units)
    return _variable(get_array_module(array).zeros(shape, array.dtype))


def _variable(value: Tensor) -> Variable:
    return value if isinstance(value, Variable) else Variable(value, requires_grad=False)


def _activations(name: str, attributes: Attributes) -> list[str]:
    """Returns the names of the activations of all directions."""
    directions = 2 if attributes.get("direction", "forward") == "bidirectional" else 1
    given = [a.lower() for a in attributes.get("activations", [])]
    return given or _DEFAULTS[name] * directions


def _is_usual(name: str, attributes: Attributes, peepholes: Tensor) -> bool:
    """Returns whether Chainer's functions for sequences compute an operator."""
    both = attributes.get("direction", "forward") == "bidirectional"
    usual = _DEFAULTS[name] * (2 if both else 1)
    found = _activations(name, attributes)
    return (
        attributes.get("direction", "forward") != "reverse"
        and peepholes is None
        and "clip" not in attributes
        and not attributes.get("input_forget", 0)
        and (name != "GRU" or bool(attributes.get("linear_before_reset", 0)))
        and (found == usual or (name == "RNN" and set(found) == {"relu"}))
    )


def _by_sequences(
    name: str,
    attributes: Attributes,
    x: Array,
    w: Array,
    r: Array,
    b: Array,
    counts: list[int],
    states: list[Variable],
) -> tuple[Any, list[Any]]:
    order = _GATES[name]
    both = attributes.get("direction", "forward") == "bidirectional"
    network = _function(name, _activations(name, attributes), both)
    steps, batch = array_of(x).shape[:2]
    directions, _, units = array_of(r).shape
    half = len(order) * units
    if b is None:
        # Chainer's functions for sequences have biases in any case.
        b = numpy.zeros((directions, 2 * half), array_of(x).dtype)
    # For each direction the weights of the inputs, then the weights of the states.
    ws = [_gates(w[d], order, units) + _gates(r[d], order, units) for d in range(directions)]
    bs = [
        _gates(b[d][:half], order, units) + _gates(b[d][half:], order, units)
        for d in range(directions)
    ]
    # Longest first, as Chainer's functions want them.
    ranks = numpy.argsort([-n for n in counts], kind="stable")
    xs = [F.get_item(x, (slice(0, counts[i]), int(i))) for i in ranks]
    states = [F.get_item(s, (slice(None), ranks)) for s in states]
    # Chainer's functions take the inputs of each time, not of each sequence. One layer, no dropout.
    *last, ys = network(1, 0.0, *states, ws, bs, F.transpose_sequence(xs))
    ys = F.transpose_sequence(ys)
    back = numpy.argsort(ranks)
    y = F.pad_sequence([ys[int(i)] for i in back], steps)  # (batch, time, direction x unit)
    y = F.reshape(y, (batch, steps, directions, units))
    return F.transpose(y, (1, 2, 0, 3)), [F.get_item(s, (slice(None), back)) for s in last]


def _function(name: str, activations: list[str], both: bool) -> Any:
    """Returns Chainer's function for the sequences of an operator."""
    if name == "RNN":
        return _n_step_rnn(activations[0], both)
    functions: dict[str, Any] = {
        "LSTM": (F.n_step_lstm, F.n_step_bilstm),
        "GRU": (F.n_step_gru, F.n_step_bigru),
    }
    return functions[name][both]


def _n_step_rnn(activation: str, both: bool) -> Callable[..., Any]:
    function: Any = F.n_step_birnn if both else F.n_step_rnn

    def compute(*args: Array) -> Any:
        return function(*args, activation)

    return compute


def _gates(parameters: Any, order: tuple[int, ...], units: int) -> list[Any]:
    """Returns the parameters of each gate, in Chainer's order."""
    parameters = _variable(parameters)
    return [F.get_item(parameters, slice(k * units, (k + 1) * units)) for k in order]


def _step_by_step(
    name: str,
    attributes: Attributes,
    x: Array,
    w: Array,
    r: Array,
    b: Array,
    counts: list[int],
    states: list[Variable],
    peepholes: Array,
) -> tuple[Any, list[Any]]:
    direction = attributes.get("direction", "forward")
    directions, _, units = array_of(r).shape
    per = len(_DEFAULTS[name])
    outputs, finals = [], []
    for d in range(directions):
        cell = _Cell(name, attributes, d * per, w[d], r[d], None if b is None else b[d], units)
        if peepholes is not None:
            cell.peepholes = _gates(peepholes[d], (0, 1, 2), units)
        backward = direction == "reverse" or d == 1
        y, last = _run(cell, x, [state[d] for state in states], counts, backward)
        outputs.append(y)
        finals.append(last)
    y = F.stack(outputs, axis=1)
    return y, [F.stack(list(state), axis=0) for state in zip(*finals)]


def _run(
    cell: _Cell, x: Array, states: list[Any], counts: list[int], backward: bool
) -> tuple[Any, list[Any]]:
    """Runs one direction; the state of a sequence stays as it is outside of the sequence."""
    array = array_of(x)
    steps = array.shape[0]
    ends = numpy.asarray(counts)
    rows: list[Any] = [None] * steps
    for t in reversed(range(steps)) if backward else range(steps):
        found = cell(x[t], states)
        alive = ends > t
        # No sequence has ended: the masks would multiply by one.
        if alive.all():
            states = found
            rows[t] = found[0]
            continue
        keep = get_array_module(array).asarray(alive.astype(array.dtype))[:, None]
        keep = numpy.broadcast_to(keep, found[0].shape)
        states = [new * keep + old * (1 - keep) for new, old in zip(found, states)]
        rows[t] = found[0] * keep
    return F.stack(rows, axis=0), states


class _Cell:
    """One step of one direction.

    Args:
        name: The operator.
        attributes: Its attributes.
        first: Position of the activations of the direction.
        w: Weights of the inputs, of the shape (gates x units, input).
        r: Weights of the states, of the shape (gates x units, units).
        b: Biases of both, or None.
        units: Number of units.

    Attributes:
        peepholes: Weights of the cell's state for the gates i, o and f, or None.
    """

    def __init__(
        self,
        name: str,
        attributes: Attributes,
        first: int,
        w: Array,
        r: Array,
        b: Array,
        units: int,
    ) -> None:
        self._step = {"LSTM": self._lstm, "GRU": self._gru, "RNN": self._rnn}[name]
        self._attributes = attributes
        names = _activations(name, attributes)[first : first + len(_DEFAULTS[name])]
        self._activations = [_activation(attributes, n, first + i) for i, n in enumerate(names)]
        self._w, self._r = _variable(w), _variable(r)
        half = len(_GATES[name]) * units
        # ONNX has the biases of inputs and states in one array.
        self._wb = None if b is None else b[:half]
        self._rb = None if b is None else b[half:]
        self._units = units
        self.peepholes: Any = None

    def __call__(self, x: Array, states: list[Any]) -> list[Any]:
        return self._step(x, *states)

    def _clipped(self, x: Array) -> Any:
        limit = self._attributes.get("clip")
        return x if limit is None else F.clip(x, -float(limit), float(limit))

    def _split(self, x: Array, count: int) -> Any:
        return F.split_axis(x, count, 1)

    def _rnn(self, x: Array, h: Array) -> list[Any]:
        (f,) = self._activations
        return [f(self._clipped(F.linear(x, self._w, self._wb) + F.linear(h, self._r, self._rb)))]

    def _gru(self, x: Array, h: Array) -> list[Any]:
        f, g = self._activations
        xz, xr, xh = self._split(F.linear(x, self._w, self._wb), 3)
        hz, hr, hh = self._split(F.linear(h, self._r, self._rb), 3)
        z, r = f(self._clipped(xz + hz)), f(self._clipped(xr + hr))
        if self._attributes.get("linear_before_reset", 0):
            # The variant of cuDNN, which Chainer has, too: the reset gate comes after the product.
            inner = r * hh
        else:
            last = slice(2 * self._units, None)
            bias = None if self._rb is None else self._rb[last]
            inner = F.linear(r * h, self._r[last], bias)
        n = g(self._clipped(xh + inner))
        return [(1 - z) * n + z * h]

    def _lstm(self, x: Array, h: Array, c: Array) -> list[Any]:
        f, g, out = self._activations
        gates = F.linear(x, self._w, self._wb) + F.linear(h, self._r, self._rb)
        i, o, forget, cell = self._split(gates, 4)
        po = None
        if self.peepholes is not None:
            pi, po, pf = [F.broadcast_to(p, c.shape) for p in self.peepholes]
            i, forget = i + pi * c, forget + pf * c
        i = f(self._clipped(i))
        coupled = self._attributes.get("input_forget", 0)
        # A coupled forget gate keeps what the input gate does not replace.
        kept = 1 - i if coupled else f(self._clipped(forget))
        new = kept * c + i * g(self._clipped(cell))
        if po is not None:
            # The output gate sees the new cell, the others see the old one.
            o = o + po * new
        return [f(self._clipped(o)) * out(new), new]


def _activation(attributes: Attributes, name: str, position: int) -> Callable[[Any], Any]:
    """Returns an activation with its parameters."""
    alpha = _parameter(attributes, "activation_alpha", position)
    beta = _parameter(attributes, "activation_beta", position)

    def given(value: float | None, default: float) -> float:
        return default if value is None else value

    functions: dict[str, Callable[[Any], Any]] = {
        "affine": lambda x: given(alpha, 1.0) * x + given(beta, 0.0),
        "elu": lambda x: F.elu(x, given(alpha, 1.0)),
        "hardsigmoid": lambda x: F.clip(given(alpha, 0.2) * x + given(beta, 0.5), 0.0, 1.0),
        "leakyrelu": lambda x: F.leaky_relu(x, given(alpha, 0.01)),
        "relu": F.relu,
        "scaledtanh": lambda x: given(alpha, 1.0) * F.tanh(given(beta, 1.0) * x),
        "sigmoid": F.sigmoid,
        "softplus": F.softplus,
        "softsign": lambda x: x / (1 + F.absolute(x)),
        "tanh": F.tanh,
        "thresholdedrelu": lambda x: x * (x.array > given(alpha, 1.0)).astype(x.dtype),
    }
    if name not in functions:
        attributes.refuse("activations")
    return functions[name]


def _parameter(attributes: Attributes, name: str, position: int) -> float | None:
    values = attributes.get(name, [])
    return values[position] if position < len(values) else None


OPERATORS: dict[str, Callable[..., Any]] = {name: _operator(name) for name in _GATES}
