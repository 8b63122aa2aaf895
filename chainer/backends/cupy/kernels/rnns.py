"""CUDA kernel of recurrent networks: one product and one fused kernel for each step."""

from __future__ import annotations

from chainer.backends.cupy.kernels._rnn_functions import RNNFunctions
from chainer.backends.numpy.kernels._rnn_cells import Cell, CellGradients, Steps
from chainer.backends.numpy.kernels.rnns import NStepRNNKernel as ReferenceNStepRNNKernel
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array


class NStepRNNKernel(ReferenceNStepRNNKernel):
    """Kernel of ``n_step_rnn``: the reference kernel with fused cells."""

    packs = True

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._functions = RNNFunctions(backend)

    def make_cell(self, mode: str, w: list[Array], b: list[Array], steps: Steps) -> Array:
        return _CELLS[mode](self._functions, mode, w, b, steps)

    def _mask(self, x: Array, ratio: float) -> Array:
        xp = self.xp
        # float32 numbers take half the time of the default float64 to draw.
        kept = xp.random.random_sample(x.shape, dtype="float32") >= ratio
        return xp.multiply(kept, x.dtype.type(1.0 / (1 - ratio)))


class _FusedCell(Cell):
    """Base of the cells below. They store the state before each step, which gradients need."""

    def __init__(
        self, functions: RNNFunctions, mode: str, w: list[Array], b: list[Array], steps: Steps
    ) -> None:
        super().__init__(functions.xp, mode, w, b, steps)
        self._functions = functions

    def _begin(self, x: Array, h: Array) -> tuple[Array, Array, Array]:
        """Returns the state, the recurrent weight and a buffer for its products."""
        xp = self.xp
        self.x, self.h0 = x, h
        self.y = xp.empty((len(x), self.size), x.dtype)
        self.before_h = xp.empty_like(self.y)
        product = xp.empty((len(h), self.gates * self.size), x.dtype)
        return h.copy(), self.w_h.T, product

    def _incoming(self, gy: Array) -> tuple[Array, int]:
        """Returns the gradient of the output with contiguous rows, and the distance of the rows."""
        if gy is None:
            return None, 0
        # One direction of two is a slice of columns, which the source reads without a copy.
        step = gy.strides[0] // gy.itemsize
        if gy.strides[1] == gy.itemsize and step >= gy.shape[1]:
            return gy, step
        gy = self._functions.contiguous(gy)
        return gy, gy.shape[1]

    def _weights(self, g_x: Array, g_h: Array) -> tuple[list[Array], list[Array]]:
        n = self.size
        # One product over all steps is faster than a sum of products.
        w_x, w_h, b_x = g_x.T @ self.x, g_h.T @ self.before_h, g_x.sum(axis=0)
        b_h = b_x.copy() if g_h is g_x else g_h.sum(axis=0)
        parts = [slice(i * n, (i + 1) * n) for i in range(self.gates)]
        return (
            [*[w_x[part] for part in parts], *[w_h[part] for part in parts]],
            [*[b_x[part] for part in parts], *[b_h[part] for part in parts]],
        )


class LSTMCell(_FusedCell):
    """Long short-term memory; gates ``i, f, a, o``."""

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        xp, call = self.xp, self._functions.call
        # The inputs of all steps are known: one product serves them, and one remains for each step.
        gates = x @ self.w_x.T
        gates += self.b_x + self.b_h
        h, recurrent, product = self._begin(x, h)
        # The source replaces the state in place at each step; the caller's array must not change.
        c = c.copy()
        self.gate_values = gates
        self.before, self.cells = xp.empty_like(self.y), xp.empty_like(self.y)
        kept = (self.before, self.before_h, self.cells, self.y)
        for elements, count in self.steps.slices:
            p = product[:count]
            xp.matmul(h[:count], recurrent, out=p)
            now = [array[elements] for array in kept]
            call("lstm_step", c[:count], gates[elements], p, c, h, *now, self.size)
        return self.y, h, c

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        xp, call = self.xp, self._functions.call
        gates = self.gate_values
        g = xp.empty_like(gates)
        gh, gc = self._start(gh), self._start(gc)
        gy, step = self._incoming(gy)
        for elements, count in reversed(self.steps.slices):
            gh_now, g_now = gh[:count], g[elements]
            kept = [array[elements] for array in (gates, self.cells, self.before)]
            gy_now = None if gy is None else gy[elements]
            sizes = (self.size, step)
            call("lstm_step_backward", gh_now, *kept, gy_now, gh_now, gc, g_now, *sizes)
            xp.matmul(g_now, self.w_h, out=gh_now)
        gws, gbs = self._weights(g, g)
        return g @ self.w_x, gh, gc, gws, gbs


class GRUCell(_FusedCell):
    """Gated recurrent unit; gates ``r, z`` and the candidate."""

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        xp, call, n = self.xp, self._functions.call, self.size
        gates = x @ self.w_x.T
        gates += self.b_x
        gates[:, : 2 * n] += self.b_h[: 2 * n]
        bias = self.b_h[2 * n :]
        h, recurrent, product = self._begin(x, h)
        self.gate_values = gates
        self.inner = xp.empty_like(self.y)
        for elements, count in self.steps.slices:
            p = product[:count]
            xp.matmul(h[:count], recurrent, out=p)
            inner, before_h, y = (array[elements] for array in (self.inner, self.before_h, self.y))
            call("gru_step", h[:count], gates[elements], p, bias, inner, h, before_h, y, n)
        return self.y, h, None

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        xp, call = self.xp, self._functions.call
        gates = self.gate_values
        g, g_h = xp.empty_like(gates), xp.empty_like(gates)
        gh = self._start(gh)
        gy, step = self._incoming(gy)
        # One buffer for the products of all steps.
        product = xp.empty_like(gh)
        for elements, count in reversed(self.steps.slices):
            gh_now, p = gh[:count], product[:count]
            kept = [array[elements] for array in (gates, self.inner, self.before_h)]
            gy_now = None if gy is None else gy[elements]
            out = (gh_now, g[elements], g_h[elements])
            call("gru_step_backward", gh_now, *kept, gy_now, *out, self.size, step)
            xp.matmul(g_h[elements], self.w_h, out=p)
            gh_now += p
        gws, gbs = self._weights(g, g_h)
        return g @ self.w_x, gh, None, gws, gbs


class SimpleCell(_FusedCell):
    """One activation of the sum: ``tanh`` or ``relu``."""

    def forward(self, x: Array, h: Array, c: Array) -> tuple[Array, Array, Array]:
        xp, call = self.xp, self._functions.call
        h, recurrent, product = self._begin(x, h)
        y = self.y = x @ self.w_x.T
        y += self.b_x + self.b_h
        is_tanh = self.mode == "tanh"
        for elements, count in self.steps.slices:
            p = product[:count]
            xp.matmul(h[:count], recurrent, out=p)
            call("simple_step", p, y[elements], p, h, self.before_h[elements], is_tanh)
        return y, h, None

    def backward(self, gy: Array, gh: Array, gc: Array) -> CellGradients:
        xp, call = self.xp, self._functions.call
        g = xp.empty_like(self.y)
        gh = self._start(gh)
        gy, step = self._incoming(gy)
        is_tanh = self.mode == "tanh"
        for elements, count in reversed(self.steps.slices):
            gh_now, g_now = gh[:count], g[elements]
            gy_now = None if gy is None else gy[elements]
            args = (self.y[elements], gy_now, gh_now, g_now, is_tanh, self.size, step)
            call("simple_step_backward", gh_now, *args)
            xp.matmul(g_now, self.w_h, out=gh_now)
        gws, gbs = self._weights(g, g)
        return g @ self.w_x, gh, None, gws, gbs


_CELLS: dict[str, type[_FusedCell]] = {
    "lstm": LSTMCell,
    "gru": GRUCell,
    "tanh": SimpleCell,
    "relu": SimpleCell,
}
