"""Recurrent cells that run over packed sequences in one direction, and back.

A cell computes everything that does not depend on the recurrence for all times at once: the
products with the input before the loop over time, and the derivatives of the gates and the
gradients of the weights outside of it. The loops are left with one product with the state and a few
operations in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy

from chainer.core.typing import Array, ArrayModule

# The gradient of the recurrent weights needs the state before each element, a second copy of all
# states. From this size on, it is made in eight parts, so that it hardly adds to the peak memory.
_LARGE_BYTES = 1 << 18

CellGradients: TypeAlias = tuple[Array, Array, Array, list[Array], list[Array]]
"""Gradients of the input, of the initial state, of the initial cell state (or None), of the weights
and of the biases."""


class Steps:
    """Order in which a cell visits the packed elements.

    Args:
        batch_sizes: Number of sequences alive at each time.
        reverse: Whether the last time comes first.

    Attributes:
        batch_sizes: The argument.
        reverse: The argument.
        slices: Pairs of the slice of the packed elements of a time and their number, in the order
            of the visits.
    """

    def __init__(self, batch_sizes: tuple[int, ...], reverse: bool) -> None:
        self.batch_sizes, self.reverse = batch_sizes, reverse
        ends = list(accumulate(batch_sizes))
        slices = [(slice(end - n, end), n) for end, n in zip(ends, batch_sizes, strict=True) if n]
        if reverse:
            slices.reverse()
        self.slices = slices

    def previous(
        self, xp: ArrayModule, initial: Array, states: Array, visits: slice = slice(None)
    ) -> tuple[slice, Array]:
        """Returns the packed elements of some visits, and the state before each of them.

        Args:
            xp: Array namespace.
            initial: Initial state, shape ``(batch, N)``.
            states: State after each element, packed.
            visits: The visits, all or at least one.
        """
        chosen = self.slices[visits]
        first = min([elements.start for elements, _ in chosen], default=0)
        last = max([elements.stop for elements, _ in chosen], default=0)
        previous = xp.empty((last - first, states.shape[1]), states.dtype)
        before = visits.start or 0
        # Start and number of the states of the visit before.
        start, alive = (
            (self.slices[before - 1][0].start, self.slices[before - 1][1]) if before else (0, 0)
        )
        for elements, n in chosen:
            kept, at = min(n, alive), elements.start - first
            previous[at : at + kept] = states[start : start + kept]
            previous[at + kept : at + n] = initial[kept:n]
            start, alive = elements.start, n
        return slice(first, last), previous

    def blocks(self, rows: int) -> Iterator[slice]:
        """Yields the slices that split the visits into blocks of about so many elements."""
        start = count = 0
        for i, (_, n) in enumerate(self.slices):
            if count and count + n > rows:
                yield slice(start, i)
                start, count = i, 0
            count += n
        yield slice(start, len(self.slices))


class PackedParts:
    """Arrays of each time, indexed as if they were packed into one array, without copying them.

    Indices are ``[elements of a time]`` and ``[:, columns]``.

    Args:
        arrays: Array of each time.
        batch_sizes: Their lengths.
    """

    def __init__(self, arrays: Sequence[Array], batch_sizes: tuple[int, ...]) -> None:
        self._arrays, self._batch_sizes = arrays, batch_sizes
        ends = accumulate(batch_sizes)
        times = zip(ends, batch_sizes, arrays, strict=True)
        self._of_start = {end - n: array for end, n, array in times if n}

    def __getitem__(self, index: Any) -> Array:
        if isinstance(index, tuple):
            return PackedParts([array[index] for array in self._arrays], self._batch_sizes)
        return self._of_start[index.start]


class Cell:
    """Base of the cells. A cell stores in forward what backward reads.

    Args:
        xp: Array namespace.
        mode: Mode of the network.
        w: Weights: first of the input, then of the state.
        b: Biases, likewise.
        steps: Order of the visits.
    """

    def __init__(
        self, xp: ArrayModule, mode: str, w: list[Array], b: list[Array], steps: Steps
    ) -> None:
        half = len(w) // 2
        self.xp = xp
        self.mode = mode
        self.gates = half
        self.size = w[half].shape[1]
        self.steps = steps
        #: Weights and biases of all gates, one below the other: one product serves all gates.
        self.w_x, self.w_h, self.b_x, self.b_h = [
            xp.concatenate(part) if half > 1 else part[0]
            for part in (w[:half], w[half:], b[:half], b[half:])
        ]
        #: Input, initial state and output of forward, for backward.
        self.x: Array = None
        self.h0: Array = None
        self.y: Array = None

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        """Runs over the sequences.

        Args:
            x: Packed input ``(T, I)``.
            h: Initial state ``(B, N)``.
            c: Initial cell state, or None.

        Returns:
            tuple: Packed output ``(T, N)``, last state, last cell state or None.
        """
        raise NotImplementedError

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        """Runs back over the sequences.

        Args:
            gy: Gradient of the packed output, possibly as :class:`PackedParts`, or None.
            gh: Gradient of the last state, or None.
            gc: Gradient of the last cell state, or None.

        Returns:
            tuple: See :data:`CellGradients`.
        """
        raise NotImplementedError

    def _start(self, gradient: Array) -> Array:
        """Returns a new array with the gradient of a last state."""
        if gradient is None:
            return self.xp.zeros_like(self.h0)
        return gradient.copy()

    def _weights(self, g_x: Array, g_h: Array) -> tuple[list[Array], list[Array]]:
        """Returns the gradients of weights and biases from the gradients of the gates' sums."""
        n = self.size
        w_x, w_h, b_x = g_x.T @ self.x, self._recurrent_weights(g_h), g_x.sum(axis=0)
        # Gradients of different parameters must not share memory, hence the copy.
        b_h = b_x.copy() if g_h is g_x else g_h.sum(axis=0)
        parts = [slice(i * n, (i + 1) * n) for i in range(self.gates)]
        return (
            [*[w_x[part] for part in parts], *[w_h[part] for part in parts]],
            [*[b_x[part] for part in parts], *[b_h[part] for part in parts]],
        )

    def _recurrent_weights(self, g: Array) -> Array:
        """Returns the gradient of the weights of the state."""
        large = self.xp is numpy and self.y.nbytes >= _LARGE_BYTES
        total: Array = None
        for visits in self.steps.blocks(len(self.y) // 8 if large else len(self.y)):
            elements, h = self.steps.previous(self.xp, self.h0, self.y, visits)
            part = g[elements].T @ h
            if total is None:
                total = part
            else:
                total += part
        return total


class LSTMCell(Cell):
    """Long short-term memory, given the weights of ``i, f, a, o``.

    The gates are stored in the order ``i, f, o, a``, which makes the sigmoids neighbors. A sigmoid
    is computed as ``tanh(z / 2) / 2 + 1 / 2``, so that one call of ``tanh`` serves all gates. The
    weights of the sigmoids are halved for this purpose.
    """

    def __init__(
        self, xp: ArrayModule, mode: str, w: list[Array], b: list[Array], steps: Steps
    ) -> None:
        super().__init__(xp, mode, _exchanged(w), _exchanged(b), steps)

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        xp, n = self.xp, self.size
        dtype = x.dtype
        sigmoids = slice(0, 3 * n)
        half = dtype.type(0.5)
        recurrent = self.w_h.T.copy()
        recurrent[:, sigmoids] *= half
        gates = x @ self.w_x.T
        gates += self.b_x + self.b_h
        gates[:, sigmoids] *= half
        self.x, self.h0, self.c0, self.gate_values = x, h, c, gates
        h, c = h.copy(), c.copy()
        y = self.y = xp.empty((len(x), n), dtype)
        cells = self.cells = xp.empty((len(x), n), dtype)
        product = xp.empty((len(h), 4 * n), dtype)
        for elements, count in self.steps.slices:
            gate, h_now, c_now, p = gates[elements], h[:count], c[:count], product[:count]
            xp.matmul(h_now, recurrent, out=p)
            gate += p
            xp.tanh(gate, out=gate)
            sigmoid = gate[:, sigmoids]
            sigmoid *= half
            sigmoid += half
            c_now *= gate[:, n : 2 * n]
            c_now += gate[:, :n] * gate[:, 3 * n :]
            cells[elements] = c_now
            xp.tanh(c_now, out=h_now)
            h_now *= gate[:, 2 * n : 3 * n]
            y[elements] = h_now
        return y, h, c

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        xp, n = self.xp, self.size
        gates = self.gate_values
        i, f, o, a = (gates[:, k * n : (k + 1) * n] for k in range(4))
        tanh_c = xp.tanh(self.cells)
        # The derivative of each gate times the value that the gate is multiplied by. Products are
        # taken in place: temporary arrays would double the memory of the gates.
        g = xp.empty_like(gates)
        sigmoids = gates[:, : 3 * n]
        xp.multiply(sigmoids, sigmoids, out=g[:, : 3 * n])
        xp.subtract(sigmoids, g[:, : 3 * n], out=g[:, : 3 * n])
        g[:, :n] *= a
        g[:, n : 2 * n] *= self.steps.previous(xp, self.c0, self.cells)[1]
        g[:, 2 * n : 3 * n] *= tanh_c
        xp.multiply(a, a, out=g[:, 3 * n :])
        xp.subtract(1, g[:, 3 * n :], out=g[:, 3 * n :])
        g[:, 3 * n :] *= i
        # The derivative of the output with respect to the cell state.
        through = tanh_c
        through *= tanh_c
        xp.subtract(1, through, out=through)
        through *= o
        gh, gc = self._start(gh), self._start(gc)
        for elements, count in reversed(self.steps.slices):
            gh_now, gc_now, g_now, t = gh[:count], gc[:count], g[elements], through[elements]
            if gy is not None:
                gh_now += gy[elements]
            t *= gh_now
            gc_now += t
            g_now[:, 2 * n : 3 * n] *= gh_now
            g_now[:, :n] *= gc_now
            g_now[:, n : 2 * n] *= gc_now
            g_now[:, 3 * n :] *= gc_now
            gc_now *= f[elements]
            xp.matmul(g_now, self.w_h, out=gh_now)
        gws, gbs = self._weights(g, g)
        return g @ self.w_x, gh, gc, _exchanged(gws), _exchanged(gbs)


def _exchanged(parameters: list[Array]) -> list[Array]:
    """Exchanges the parameters of ``a`` and ``o`` in the list of an LSTM."""
    return [parameters[i] for i in (0, 1, 3, 2, 4, 5, 7, 6)]


class GRUCell(Cell):
    """Gated recurrent unit; gates ``r, z`` and the candidate."""

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        xp, n = self.xp, self.size
        dtype = x.dtype
        half = dtype.type(0.5)
        sigmoids = slice(0, 2 * n)
        recurrent = self.w_h.T.copy()
        gates = x @ self.w_x.T
        gates += self.b_x
        gates[:, sigmoids] += self.b_h[sigmoids]
        gates[:, sigmoids] *= half
        recurrent[:, sigmoids] *= half
        bias = self.b_h[2 * n :]
        self.x, self.h0, self.gate_values = x, h, gates
        h = h.copy()
        y = self.y = xp.empty((len(x), n), dtype)
        # The value that the gate r is multiplied by.
        inner = self.inner = xp.empty((len(x), n), dtype)
        product = xp.empty((len(h), 3 * n), dtype)
        for elements, count in self.steps.slices:
            gate, h_now, p = gates[elements], h[:count], product[:count]
            xp.matmul(h_now, recurrent, out=p)
            sigmoid = gate[:, sigmoids]
            sigmoid += p[:, sigmoids]
            xp.tanh(sigmoid, out=sigmoid)
            sigmoid *= half
            sigmoid += half
            candidate, u = gate[:, 2 * n :], inner[elements]
            xp.add(p[:, 2 * n :], bias, out=u)
            candidate += gate[:, :n] * u
            xp.tanh(candidate, out=candidate)
            # (1 - z) * candidate + z * h
            h_now -= candidate
            h_now *= gate[:, n : 2 * n]
            h_now += candidate
            y[elements] = h_now
        return y, h, None

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        xp, n = self.xp, self.size
        gates = self.gate_values
        r, z, candidate = (gates[:, k * n : (k + 1) * n] for k in range(3))
        _, h = self.steps.previous(xp, self.h0, self.y)
        # Four blocks: candidate of the state, r, z, candidate of the input. The first three belong
        # to products with the state, the last three to products with the input, so that each group
        # is one contiguous range of columns.
        g = xp.empty((len(gates), 4 * n), gates.dtype)
        g_hc, g_r, g_z, g_xc = (g[:, k * n : (k + 1) * n] for k in range(4))
        xp.multiply(candidate, candidate, out=g_xc)
        xp.subtract(1, g_xc, out=g_xc)
        g_xc *= 1 - z
        xp.multiply(g_xc, r, out=g_hc)
        xp.multiply(g_xc, self.inner, out=g_r)
        g_r *= r
        g_r *= 1 - r
        xp.subtract(h, candidate, out=g_z)
        g_z *= z
        g_z *= 1 - z
        blocks = g.reshape(len(g), 4, n)
        recurrent = xp.concatenate([self.w_h[2 * n :], self.w_h[: 2 * n]])
        gh = self._start(gh)
        product = xp.empty_like(gh)
        for elements, count in reversed(self.steps.slices):
            gh_now, g_now, p = gh[:count], g[elements], product[:count]
            if gy is not None:
                gh_now += gy[elements]
            block = blocks[elements]
            block *= gh_now[:, None]
            gh_now *= z[elements]
            xp.matmul(g_now[:, : 3 * n], recurrent, out=p)
            gh_now += p
        g_x = g[:, n:]
        g_h = xp.concatenate([g[:, n : 3 * n], g[:, :n]], axis=1)
        gws, gbs = self._weights(g_x, g_h)
        return g_x @ self.w_x, gh, None, gws, gbs


class SimpleCell(Cell):
    """One activation of the sum: ``tanh`` or ``relu``."""

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        xp = self.xp
        recurrent = xp.ascontiguousarray(self.w_h.T)
        y = x @ self.w_x.T
        y += self.b_x + self.b_h
        self.x, self.h0, self.y = x, h, y
        h = h.copy()
        product = xp.empty_like(h)
        for elements, count in self.steps.slices:
            y_now, h_now, p = y[elements], h[:count], product[:count]
            xp.matmul(h_now, recurrent, out=p)
            y_now += p
            if self.mode == "tanh":
                xp.tanh(y_now, out=y_now)
            else:
                xp.maximum(y_now, 0, out=y_now)
            h_now[...] = y_now
        return y, h, None

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        xp = self.xp
        if self.mode == "tanh":
            g = self.y * self.y
            xp.subtract(1, g, out=g)
        else:
            g = (self.y > 0).astype(self.y.dtype)
        gh = self._start(gh)
        for elements, count in reversed(self.steps.slices):
            gh_now, g_now = gh[:count], g[elements]
            if gy is not None:
                gh_now += gy[elements]
            g_now *= gh_now
            xp.matmul(g_now, self.w_h, out=gh_now)
        gws, gbs = self._weights(g, g)
        return g @ self.w_x, gh, None, gws, gbs
