"""LSTM and GRU over a sequence: one layer, one direction, all sequences of one length.

The products with the input are computed for all steps at once; all steps run inside one primitive.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ideep4py._core import constants as C
from ideep4py._core import layout as L
from ideep4py._core import runtime
from ideep4py._core.buffers import allocate
from ideep4py._core.library import NULL, lib
from ideep4py._core.primitive import Primitive, attributes, chosen, describe
from ideep4py._core.reorder import densified, in_layout
from ideep4py._mdarray import mdarray, wrap
from ideep4py.ops._inputs import Array, data_of, same_shape, vector

_CELLS = {
    # name: gates, biases, prefix of the functions, whether there is a cell state
    "lstm": (4, 4, "lstm", True),
    "gru": (3, 4, "lbr_gru", False),
}


class Sizes(NamedTuple):
    """Steps, batch, input and hidden size."""

    steps: int
    batch: int
    inputs: int
    hidden: int


class _Layouts:
    """Layouts of the arguments that are the same in both directions."""

    def __init__(self, cell: str, sizes: Sizes) -> None:
        t, n, i, h = sizes
        self.gates, biases, prefix, self.has_cell = _CELLS[cell]
        g = self.gates
        self.x = L.dense((t, n, i))
        self.y = L.dense((t, n, h))
        self.state = L.dense((1, 1, n, h))
        self.states = [self.state] * (2 if self.has_cell else 1)
        self.bias = L.dense((1, 1, biases, h))
        # Weights are (gate, unit, input) for us and (1, 1, input, gate, unit) for oneDNN: the same
        # memory.
        self.W = L.strided((1, 1, i, g, h), (g * h * i, g * h * i, 1, h * i, i))
        self.U = L.strided((1, 1, h, g, h), (g * h * h, g * h * h, 1, h * h, h))
        self.prefix = prefix

    def free_weights(self) -> list[Any]:
        """Descriptors of the weights whose layout the primitive chooses."""
        return [L.any_md(self.W.shape), L.any_md(self.U.shape)]

    def common(self) -> list[Any]:
        """Descriptors of the forward pass."""
        states = [s.md for s in self.states]
        unused = [NULL, NULL] if self.has_cell else []  # peephole, projection
        weights = [*self.free_weights(), *unused, self.bias.md]
        return [self.x.md, *states, *weights, self.y.md, *states]

    def forward_pd(self) -> Any:
        """Descriptor of the forward pass."""
        create = getattr(lib, f"dnnl_{self.prefix}_forward_primitive_desc_create")
        common = self.common()
        return describe(
            create, f"{self.prefix} forward", C.TRAINING, C.LEFT2RIGHT, *common, 0, attributes()
        )


_STATE_ARGS = ((C.SRC_1, C.DST_1), (C.SRC_2, C.DST_2))
_STATE_GRADIENTS = ((C.DIFF_SRC_1, C.DIFF_DST_1), (C.DIFF_SRC_2, C.DIFF_DST_2))


class _Forward:
    __slots__ = ("U", "W", "layouts", "run", "workspace")

    def __init__(self, cell: str, sizes: Sizes) -> None:
        self.layouts = a = _Layouts(cell, sizes)
        pd = a.forward_pd()
        self.W = chosen(pd, C.QUERY_WEIGHTS, 0)
        self.U = chosen(pd, C.QUERY_WEIGHTS, 1)
        self.workspace = chosen(pd, C.QUERY_WORKSPACE)
        arguments = _forward_arguments(a, self.W, self.U)
        self.run = Primitive(pd, [*arguments, (C.WORKSPACE, self.workspace)]).run


def _forward_arguments(a: _Layouts, W: L.Layout, U: L.Layout) -> list[tuple[int, L.Layout]]:
    arguments = [(C.SRC, a.x), (C.WEIGHTS, W), (C.WEIGHTS_1, U), (C.BIAS, a.bias), (C.DST, a.y)]
    for (source, target), state in zip(_STATE_ARGS, a.states, strict=False):
        arguments += [(source, state), (target, state)]
    return arguments


class _Backward:
    __slots__ = ("U", "W", "gU", "gW", "layouts", "run", "workspace")

    def __init__(self, cell: str, sizes: Sizes) -> None:
        self.layouts = a = _Layouts(cell, sizes)
        hint = a.forward_pd()
        create = getattr(lib, f"dnnl_{a.prefix}_backward_primitive_desc_create")
        both = [*a.common(), *a.common()]  # arguments and their gradients
        what = f"{a.prefix} backward"
        pd = describe(create, what, C.BACKWARD, C.LEFT2RIGHT, *both, 0, hint, attributes())
        self.W = chosen(pd, C.QUERY_WEIGHTS, 0)
        self.U = chosen(pd, C.QUERY_WEIGHTS, 1)
        self.gW = chosen(pd, C.QUERY_DIFF_WEIGHTS, 0)
        self.gU = chosen(pd, C.QUERY_DIFF_WEIGHTS, 1)
        self.workspace = chosen(hint, C.QUERY_WORKSPACE)
        arguments = _forward_arguments(a, self.W, self.U)
        arguments += [(C.DIFF_SRC, a.x), (C.DIFF_WEIGHTS, self.gW), (C.DIFF_WEIGHTS_1, self.gU)]
        arguments += [(C.DIFF_BIAS, a.bias), (C.DIFF_DST, a.y)]
        for (source, target), state in zip(_STATE_GRADIENTS, a.states, strict=False):
            arguments += [(source, state), (target, state)]
        self.run = Primitive(pd, [*arguments, (C.WORKSPACE, self.workspace)]).run


class Recurrence(NamedTuple):
    """A forward pass: its results, and what the backward pass needs."""

    y: mdarray
    """Hidden states of all steps, (T, N, H)."""
    h: mdarray
    """Hidden state after the last step, (N, H)."""
    c: mdarray | None
    """Cell state after the last step, (N, H); None for a GRU."""
    saved: tuple[Any, ...]
    """For :func:`recurrent_backward`."""


class RecurrentGradients(NamedTuple):
    """Gradients with respect to the arguments of :func:`lstm` or :func:`gru`."""

    x: mdarray
    h: mdarray
    c: mdarray | None
    W: mdarray
    U: mdarray
    b: mdarray


def _sizes(cell: str, x: tuple[int, ...], h: tuple[int, ...]) -> Sizes:
    if len(x) != 3:
        raise ValueError(f"x must have shape (steps, batch, inputs), got {x}")
    if len(h) != 2 or h[0] != x[1]:
        raise ValueError(f"h must have shape ({x[1]}, hidden), got {h}")
    return Sizes(*x, h[1])


def _forward(cell: str, x: Array, h: Array, c: Array | None, W: Array, U: Array, b: Array) -> Any:
    x_data, h_data = densified(data_of(x, "x")), densified(data_of(h, "h"))
    sizes = _sizes(cell, x_data[0].shape, h_data[0].shape)
    gates, biases, _, has_cell = _CELLS[cell]
    n, hidden = sizes.batch, sizes.hidden
    weights = []
    for name, array, columns in (("W", W, sizes.inputs), ("U", U, hidden)):
        data = densified(data_of(array, name))
        expected = (gates, hidden, columns)
        if data[0].shape != expected:
            raise ValueError(f"{name} must have shape {expected}, got {data[0].shape}")
        weights.append(data[1])
    found = runtime.plan(_Forward, cell, sizes)
    a = found.layouts
    y, last = allocate(a.y.nbytes), [allocate(a.state.nbytes) for _ in a.states]
    workspace = allocate(found.workspace.nbytes)
    first = [h_data[1]]
    if has_cell:
        c_data = densified(data_of(c, "c"))
        same_shape(c_data, "c", (n, hidden), "h")
        first.append(c_data[1])
    W_in = in_layout((a.W, weights[0]), found.W)
    U_in = in_layout((a.U, weights[1]), found.U)
    bias = vector(b, "b", biases * hidden)
    states = [p for pair in zip(first, last, strict=True) for p in pair]
    found.run(x_data[1], W_in, U_in, bias, y, *states, workspace)
    state = L.dense((n, hidden))
    saved = (cell, sizes, x_data[1], weights, bias, y, states, workspace)
    out = [wrap(state, p) for p in last]
    return Recurrence(wrap(a.y, y), out[0], out[1] if has_cell else None, saved)


def lstm(x: Array, h: Array, c: Array, W: Array, U: Array, b: Array) -> Recurrence:
    """Long short-term memory (Hochreiter and Schmidhuber 1997; with forget gate).

    Gates in the order input, forget, candidate, output: ``g = x @ W[i].T + h @ U[i].T + b[i]``;
    ``c = sigmoid(g1) * c + sigmoid(g0) * tanh(g2); h = sigmoid(g3) * tanh(c)``.

    Args:
        x: input (T, N, I): T steps.
        h, c: hidden and cell state before the first step, (N, H).
        W: weights of the input, (4, H, I).
        U: weights of the hidden state, (4, H, H).
        b: bias, (4, H).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    return _forward("lstm", x, h, c, W, U, b)


def gru(x: Array, h: Array, W: Array, U: Array, b: Array) -> Recurrence:
    """Gated recurrent unit whose reset gate acts after the product (as in cuDNN).

    Gates in the order update z, reset r, candidate:
    ``z = sigmoid(x @ W[0].T + h @ U[0].T + b[0])``, ``r`` with index 1;
    ``o = tanh(x @ W[2].T + b[2] + r * (h @ U[2].T + b[3])); h = z * h + (1 - z) * o``.

    Args:
        x: input (T, N, I): T steps.
        h: hidden state before the first step, (N, H).
        W: weights of the input, (3, H, I).
        U: weights of the hidden state, (3, H, H).
        b: bias, (4, H).

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    return _forward("gru", x, h, None, W, U, b)


def recurrent_backward(
    saved: tuple[Any, ...],
    gy: Array | None,
    gh: Array | None = None,
    gc: Array | None = None,
) -> RecurrentGradients:
    """Gradients of :func:`lstm` and :func:`gru`.

    Args:
        saved: from the forward pass.
        gy: gradient with respect to ``y``, (T, N, H); zero when None.
        gh, gc: gradients with respect to the last hidden and cell state, (N, H); zero when None.

    Raises:
        TypeError, ValueError: an argument does not fit; the message names it.
    """
    cell, sizes, x, weights, bias, y, states, workspace = saved
    found = runtime.plan(_Backward, cell, sizes)
    a = found.layouts
    n, hidden = sizes.batch, sizes.hidden
    incoming = [_given(gy, "gy", a.y, a.y.shape), _given(gh, "gh", a.state, (n, hidden))]
    if a.has_cell:
        incoming.append(_given(gc, "gc", a.state, (n, hidden)))
    gx, gb = allocate(a.x.nbytes), allocate(a.bias.nbytes)
    gW, gU = _zeros(found.gW), _zeros(found.gU)  # the primitive adds to what is there
    lib.memset(gb, 0, a.bias.nbytes)
    outgoing = [allocate(a.state.nbytes) for _ in a.states]
    found.run(
        x,
        in_layout((a.W, weights[0]), found.W),
        in_layout((a.U, weights[1]), found.U),
        bias,
        y,
        *states,
        gx,
        gW,
        gU,
        gb,
        incoming[0],
        *[p for pair in zip(outgoing, incoming[1:], strict=True) for p in pair],
        workspace,
    )
    state = L.dense((n, hidden))
    g = a.gates
    back = [wrap(state, p) for p in outgoing]
    return RecurrentGradients(
        wrap(a.x, gx),
        back[0],
        back[1] if a.has_cell else None,
        wrap(L.dense((g, hidden, sizes.inputs)), in_layout((found.gW, gW), a.W)),
        wrap(L.dense((g, hidden, hidden)), in_layout((found.gU, gU), a.U)),
        wrap(L.dense(a.bias.shape[2:]), gb),
    )


def _zeros(layout: L.Layout) -> Any:
    pointer = allocate(layout.nbytes)
    lib.memset(pointer, 0, layout.nbytes)
    return pointer


def _given(array: Array | None, name: str, layout: L.Layout, shape: tuple[int, ...]) -> Any:
    if array is None:
        return _zeros(layout)
    data = densified(data_of(array, name))
    if data[0].shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {data[0].shape}")
    return data[1]
