"""Reference kernel of GRU cells."""

from __future__ import annotations

from typing import Any

from chainer.backends.numpy.kernels.lstm_cells import sigmoid_in_place
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array, Arrays


class GRUCellKernel(ReferenceKernel):
    """Reference of ``gru_cell``."""

    def forward(self, h: Array, x: Array, weights: Arrays, biases: Arrays) -> tuple[Array, Any]:
        xp = self.xp
        sources = [x @ W.T + b for W, b in zip(weights[:3], biases[:3], strict=True)]
        r, z, a = sources
        for gate, U, b in ((r, weights[3], biases[3]), (z, weights[4], biases[4])):
            gate += h @ U.T
            gate += b
            sigmoid_in_place(xp, gate)
        rh = r * h
        a += rh @ weights[5].T
        a += biases[5]
        a = xp.tanh(a)
        return (1 - z) * h + z * a, (r, z, a, rh)

    def backward(
        self, h: Array, x: Array, weights: Arrays, saved: Any, gh: Array
    ) -> tuple[Array, Array, Array, Array]:
        r, z, a, rh = saved
        W_r, W_z, W, U_r, U_z, U = weights
        sources = self.xp.empty((3, *h.shape), h.dtype)
        g_r, g_z, g_a = sources
        g_a[...] = gh * z * (1 - a * a)
        g_z[...] = gh * (a - h) * z * (1 - z)
        g_rh = g_a @ U
        g_r[...] = g_rh * h * r * (1 - r)
        g_h = gh * (1 - z) + g_rh * r + g_r @ U_r + g_z @ U_z
        return g_h, g_r @ W_r + g_z @ W_z + g_a @ W, sources, rh
