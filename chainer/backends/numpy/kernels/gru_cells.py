"""Reference kernel of GRU cells."""

from __future__ import annotations

from typing import Any

from chainer.backends.numpy.kernels.linears import LinearKernel
from chainer.backends.numpy.kernels.lstm_cells import sigmoid_in_place
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.arrays.protocol import Backend
from chainer.core.typing import Array, Arrays


class GRUCellKernel(ReferenceKernel):
    """Reference of ``gru_cell``."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._linear = LinearKernel(backend)

    def forward(self, h: Array, x: Array, weights: Arrays, biases: Arrays) -> tuple[Array, Any]:
        xp, product = self.xp, self._linear.forward
        r, z, a = [product(x, W, b) for W, b in zip(weights[:3], biases[:3], strict=True)]
        r += product(h, weights[3], biases[3])
        z += product(h, weights[4], biases[4])
        sigmoid_in_place(xp, r)
        sigmoid_in_place(xp, z)
        rh = r * h
        a += product(rh, weights[5], biases[5])
        a = xp.tanh(a)
        return (1 - z) * h + z * a, (r, z, a, rh)

    def backward(
        self, h: Array, x: Array, weights: Arrays, saved: Any, gh: Array
    ) -> tuple[Array, Array, Array, Array]:
        r, z, a, rh = saved
        product = self._linear.backward_data
        W_r, W_z, W, U_r, U_z, U = weights
        sources = self.xp.empty((3, *h.shape), h.dtype)
        g_r, g_z, g_a = sources
        g_a[...] = gh * z * (1 - a * a)
        g_z[...] = gh * (a - h) * z * (1 - z)
        g_rh = product(g_a, U)
        g_r[...] = g_rh * h * r * (1 - r)
        g_h = gh * (1 - z) + g_rh * r + product(g_r, U_r) + product(g_z, U_z)
        g_x = product(g_r, W_r) + product(g_z, W_z) + product(g_a, W)
        return g_h, g_x, sources, rh
