"""Reference kernels of LSTM cells."""

from __future__ import annotations

from typing import Any

from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, ArrayModule, Arrays


def sigmoid_in_place(xp: ArrayModule, x: Array) -> None:
    """Replaces an array by its sigmoid.

    It is computed by tanh, which neither overflows nor loses digits.
    """
    x *= 0.5
    xp.tanh(x, out=x)
    x *= 0.5
    x += 0.5


class LSTMCellKernel(ReferenceKernel):
    """LSTM cell; forward saves the gates for backward, each as a contiguous array."""

    def forward(self, c_prev: Array, x: Array) -> tuple[Array, Array, Array]:
        xp = self.xp
        # The saved gates have the memory of x, and all further steps work in place.
        gates = self._separated(x)
        xp.tanh(gates[0], out=gates[0])
        self.sigmoid_in_place(gates[1:])
        a, i, f, o = gates
        c = a * i
        c += c_prev * f
        h = xp.tanh(c)
        h *= o
        return c, h, gates

    def sigmoid_in_place(self, x: Array) -> None:
        """Replaces a contiguous array by its sigmoid."""
        sigmoid_in_place(self.xp, x)

    def _separated(self, x: Array) -> Array:
        """Copies the four sources, which are neighbors, into contiguous arrays."""
        shape = (x.shape[0], x.shape[1] // 4, 4, *x.shape[2:])
        order = (2, 0, 1, *range(3, len(shape)))
        return x.reshape(shape).transpose(order).copy()

    def _parts(self, x: Array) -> list[Array]:
        """Returns views of the four sources of each unit, which are neighbors."""
        units = x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))
        return [units[:, :, k] for k in range(4)]

    def backward(
        self, c_prev: Array, x: Array, c: Array, saved: Any, gc: Array, gh: Array
    ) -> tuple[Array, Array]:
        xp = self.xp
        a, i, f, o = saved
        gx = xp.empty(x.shape, saved.dtype)
        ga, gi, gf, go = self._parts(gx)
        if gh is None:
            go[...] = 0
            total = gc
        else:
            tanh_c = xp.tanh(c)
            slope = o - o * o
            slope *= tanh_c
            slope *= gh
            go[...] = slope
            tanh_c *= tanh_c
            xp.multiply(gh, o, out=slope)
            tanh_c *= slope
            total = xp.subtract(slope, tanh_c, out=slope)
            if gc is not None:
                total += gc
            del tanh_c  # lowers the peak memory of what follows
        slope = i - i * i
        slope *= total
        slope *= a
        gi[...] = slope
        xp.multiply(a, a, out=slope)
        xp.subtract(1, slope, out=slope)
        slope *= total
        slope *= i
        ga[...] = slope
        xp.multiply(f, f, out=slope)
        xp.subtract(f, slope, out=slope)
        slope *= total
        slope *= c_prev
        gf[...] = slope
        return xp.multiply(total, f, out=slope), gx


class SLSTMCellKernel(ReferenceKernel):
    """Reference of ``s_lstm_cell``."""

    def forward(self, c1: Array, c2: Array, x1: Array, x2: Array) -> tuple[Array, Array, Array]:
        xp = self.xp
        y1, y2 = _units(x1), _units(x2)
        a1, a2 = xp.tanh(y1[:, :, 0]), xp.tanh(y2[:, :, 0])
        i1, i2 = self._sigmoid(y1[:, :, 1]), self._sigmoid(y2[:, :, 1])
        f1, f2 = self._sigmoid(y1[:, :, 2]), self._sigmoid(y2[:, :, 2])
        o = self._sigmoid(y1[:, :, 3] + y2[:, :, 3])
        c = a1 * i1
        for left, right in ((a2, i2), (c1, f1), (c2, f2)):
            c += left * right
        return c, xp.tanh(c) * o, (a1, a2, i1, i2, f1, f2, o)

    def _sigmoid(self, x: Array) -> Array:
        y = x.copy()
        sigmoid_in_place(self.xp, y)
        return y

    def backward(
        self, inputs: Arrays, c: Array, saved: Arrays, gc: Array, gh: Array
    ) -> tuple[Array, Array, Array, Array]:
        xp = self.xp
        c1, c2, x1, x2 = inputs
        a1, a2, i1, i2, f1, f2, o = saved
        total, go = _through_output(xp, c, o, gc, gh)
        go = 0 if go is None else go * (1 - o)

        def gx(c_prev: Array, a: Array, i: Array, f: Array, x: Array) -> Array:
            gx = xp.empty(x.shape, x.dtype)
            units = _units(gx)
            units[:, :, 0] = _product(total, i, 1 - a * a)
            units[:, :, 1] = _product(total, a, i, 1 - i)
            units[:, :, 2] = _product(total, c_prev, f, 1 - f)
            units[:, :, 3] = go
            return gx

        gx1, gx2 = gx(c1, a1, i1, f1, x1), gx(c2, a2, i2, f2, x2)
        # These come last, so that they do not add to the peak memory.
        return total * f1, total * f2, gx1, gx2


class TreeLSTMCellKernel(ReferenceKernel):
    """Reference of ``tree_lstm_cell``."""

    def forward(self, cs: list[Array], x: Array) -> tuple[Array, Array, Array]:
        xp = self.xp
        size = x.shape[1] // (3 + len(cs))
        cell_input = xp.tanh(x[:, :size])
        # One call computes all gates: i, o, f_1, ..., f_N.
        gates = x[:, size:].copy()
        sigmoid_in_place(xp, gates)
        c = cell_input * gates[:, :size]
        for k, c_prev in enumerate(cs, 2):
            c += c_prev * gates[:, k * size : (k + 1) * size]
        return c, xp.tanh(c) * gates[:, size : 2 * size], (cell_input, gates)

    def backward(
        self, cs: list[Array], x: Array, c: Array, saved: Any, gc: Array, gh: Array
    ) -> tuple[list[Array], Any]:
        xp = self.xp
        cell_input, gates = saved
        size = x.shape[1] // (3 + len(cs))
        i, o, *fs = [gates[:, k * size : (k + 1) * size] for k in range(2 + len(cs))]
        total, go = _through_output(xp, c, o, gc, gh, before_gate=True)
        gx = xp.empty(x.shape, x.dtype)
        part = [gx[:, k * size : (k + 1) * size] for k in range(3 + len(cs))]
        part[0][...] = _product(total, i, 1 - cell_input * cell_input)
        part[1][...] = _product(total, cell_input, i, 1 - i)
        part[2][...] = 0 if go is None else _product(go, o, 1 - o)
        for k, (c_prev, f) in enumerate(zip(cs, fs, strict=True), 3):
            part[k][...] = _product(total, c_prev, f, 1 - f)
        return [total * f for f in fs], gx


def _through_output(
    xp: ArrayModule, c: Array, o: Array, gc: Array, gh: Array, before_gate: bool = False
) -> tuple[Array, Array]:
    """Returns the gradients of the cell state and of the output gate; None represents zeros.

    The gradient of the gate is multiplied by the gate unless ``before_gate``.
    """
    if gh is None:
        return gc, None
    tanh_c = xp.tanh(c)
    total = gh * o
    go = gh * tanh_c if before_gate else total * tanh_c
    tanh_c *= tanh_c
    total *= 1 - tanh_c
    if gc is not None:
        total += gc
    return total, go


def _product(first: Array, second: Array, *others: Any) -> Array:
    """Multiplies arrays, with one temporary array for all products."""
    product = first * second
    for other in others:
        product *= other
    return product


def _units(x: Array) -> Array:
    """Views the four sources of each unit, which are neighbors, as ``(B, n, 4, ...)``."""
    return x.reshape((x.shape[0], x.shape[1] // 4, 4, *x.shape[2:]))
