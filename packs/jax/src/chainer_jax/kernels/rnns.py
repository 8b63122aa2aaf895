"""Recurrent networks: a loop inside XLA for each layer and direction."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy
from chainer.backends.numpy.kernels.rnns import NStepRNNKernel as ReferenceNStepRNNKernel
from jax import lax

if TYPE_CHECKING:
    from chainer.typing import Array

    from chainer_jax.backend import JaxBackend


def _lstm(state: Any, z: Array, w: Array, b: Array) -> Any:
    h, c = state
    i, f, a, o = jnp.split(z + h @ w, 4, axis=1)
    c = jnp.tanh(a) * jax.nn.sigmoid(i) + c * jax.nn.sigmoid(f)
    return jnp.tanh(c) * jax.nn.sigmoid(o), c


def _gru(state: Any, z: Array, w: Array, b: Array) -> Any:
    h, _ = state
    n = h.shape[1]
    u = h @ w + b
    r, update = (jax.nn.sigmoid(z[:, k * n : k * n + n] + u[:, k * n : k * n + n]) for k in (0, 1))
    candidate = jnp.tanh(z[:, 2 * n :] + r * u[:, 2 * n :])
    return (1 - update) * candidate + update * h, None


def _simple(activation: Any) -> Any:
    return lambda state, z, w, b: (activation(z + state[0] @ w), None)


_CELLS = {"lstm": _lstm, "gru": _gru, "tanh": _simple(jnp.tanh), "relu": _simple(jax.nn.relu)}


def _padded(batch_sizes: tuple[int, ...], batch: int) -> tuple[Any, Any, Any]:
    """Returns places between the packed layout and one of shape ``(times, batch)``.

    Returns:
        tuple: The packed position of each element of the padded layout (0 where there is none), the
        padded position of each packed element, and which elements of the padded layout exist.
    """
    starts = [end - n for end, n in zip(accumulate(batch_sizes), batch_sizes, strict=True)]
    columns = numpy.arange(batch)
    counts = numpy.array(batch_sizes, int)[:, None]
    alive = columns < counts
    packed = numpy.where(alive, numpy.array(starts, int)[:, None] + columns, 0)
    return packed.reshape(-1), numpy.flatnonzero(alive), alive


def _run(
    x: Array, h: Array, c: Array, ws: Any, bs: Any, mode: str, batch_sizes: Any, reverse: bool
) -> Any:
    """Runs one layer in one direction.

    Args:
        x: Packed input ``(T, I)``.
        h: Initial state ``(B, N)``.
        c: Initial cell state, or None.
        ws: Weights: first of the input, then of the state.
        bs: Biases, likewise.
        mode: Mode of the network.
        batch_sizes: Number of sequences alive at each time.
        reverse: Whether the last time comes first.

    Returns:
        tuple: Packed output, last state, last cell state or None.
    """
    half = len(ws) // 2
    w_x, w_h, b_x, b_h = (jnp.concatenate(p) for p in (ws[:half], ws[half:], bs[:half], bs[half:]))
    # The bias of the state of a GRU is inside of the product with a gate.
    z = x @ w_x.T + (b_x if mode == "gru" else b_x + b_h)
    batch, times = len(h), len(batch_sizes)
    full = all(n == batch for n in batch_sizes)
    positions: Any = None
    alive: Any = None
    if not full:
        packed, positions, alive = _padded(batch_sizes, batch)
        z = z[packed] if len(z) else jnp.zeros((times * batch, z.shape[1]), z.dtype)
    z = z.reshape(times, batch, z.shape[1])
    cell, recurrent = _CELLS[mode], w_h.T

    def step(state: Any, item: Any) -> Any:
        z, alive = item
        h, c = cell(state, z, recurrent, b_h)
        if alive is not None:
            h = jnp.where(alive[:, None], h, state[0])
            c = None if c is None else jnp.where(alive[:, None], c, state[1])
        return (h, c), h

    (h, c), y = lax.scan(step, (h, c), (z, alive), reverse=reverse)
    y = y.reshape(times * batch, -1)
    return y if full else y[positions], h, c


_STATIC = ("mode", "batch_sizes", "reverse")


@partial(jax.jit, static_argnames=_STATIC)
def _forward(*arrays: Any, **static: Any) -> Any:
    """Returns the outputs, and the function of the gradients with what it keeps."""
    return jax.vjp(partial(_run, **static), *arrays)


@jax.jit
def _backward(pullback: Any, gradients: Any) -> Any:
    return pullback(gradients)


class _ScanCell:
    """One layer in one direction.

    Args:
        wrap: Makes an array of the backend.
        mode: Mode of the network.
        w: Weights.
        b: Biases.
        steps: Batch sizes and direction.
    """

    def __init__(self, wrap: Any, mode: str, w: Array, b: Array, steps: tuple[Any, bool]) -> None:
        self._wrap = wrap
        self._parameters = [a.native for a in w], [a.native for a in b]
        self._static = {"mode": mode, "batch_sizes": steps[0], "reverse": steps[1]}

    def forward(self, x: Array, h: Array, c: Array) -> Any:
        """Runs over the sequences; see the cells of the reference kernel."""
        state = None if c is None else c.native
        outputs, pullback = _forward(x.native, h.native, state, *self._parameters, **self._static)
        # Kept arrays are in boxes: they are put in place again if forward and backward are recorded
        # as two programs.
        leaves, self._tree = jax.tree_util.tree_flatten(pullback)
        self._saved = [self._wrap(leaf) for leaf in leaves]
        self._outputs = [None if y is None else (y.shape, y.dtype) for y in outputs]
        return tuple(None if y is None else self._wrap(y) for y in outputs)

    def backward(self, gy: Array, gh: Array, gc: Array) -> Any:
        """Runs back over the sequences; see the cells of the reference kernel."""
        gradients = tuple(
            None
            if output is None
            else (jnp.zeros(*output) if g is None else g.native.astype(output[1]))
            for g, output in zip((gy, gh, gc), self._outputs, strict=True)
        )
        leaves = [saved.native for saved in self._saved]
        pullback = jax.tree_util.tree_unflatten(self._tree, leaves)
        gx, gh, gc, gws, gbs = _backward(pullback, gradients)
        wrap = self._wrap
        return (
            wrap(gx),
            wrap(gh),
            None if gc is None else wrap(gc),
            [wrap(g) for g in gws],
            [wrap(g) for g in gbs],
        )


class NStepRNNKernel(ReferenceNStepRNNKernel):
    """Kernel of ``n_step_rnn``: the layers of the reference kernel, with loops inside XLA."""

    packs: ClassVar[bool] = True

    def __init__(self, backend: JaxBackend) -> None:
        super().__init__(backend)
        self._wrap = backend.array_class

    def make_cell(self, mode: str, w: Array, b: Array, steps: Any) -> Any:
        """Returns the loop of one layer and direction."""
        return _ScanCell(self._wrap, mode, w, b, (steps.batch_sizes, steps.reverse))
