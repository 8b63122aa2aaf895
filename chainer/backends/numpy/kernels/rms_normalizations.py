"""Reference kernel of RMS normalization, block by block of vectors."""

from __future__ import annotations

import math

import numpy

from chainer.backends.compute_dtypes import to_compute_dtype
from chainer.backends.numpy.blocks import BLOCK_SIZE, row_blocks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class RMSNormalizationKernel(ReferenceKernel):
    """Division by the root of the mean square."""

    def forward(self, x: Array, gamma: Array, eps: float) -> tuple[Array, Array]:
        """Computes the output; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        rows, wide_gamma = to_compute_dtype(x), to_compute_dtype(gamma)
        if rows.ndim != 2:
            rows = rows.reshape((_n_rows(x), size))
        if rows.size <= BLOCK_SIZE or xp is not numpy:
            # A single block needs no copies. Decoding a text normalizes a vector at a time.
            y, inv_rms = self._normalized(rows, wide_gamma, eps)
            if rows is x:
                return y, inv_rms
            y = y.astype(x.dtype, copy=False)
        else:
            y = xp.empty(rows.shape, x.dtype)
            inv_rms = xp.empty((len(rows), 1), rows.dtype)
            for block in row_blocks(xp, len(rows), size):
                y[block], inv_rms[block] = self._normalized(rows[block], wide_gamma, eps)
        return y.reshape(x.shape), inv_rms.reshape((*x.shape[:-1], 1))

    def _normalized(self, rows: Array, gamma: Array, eps: float) -> tuple[Array, Array]:
        """Returns normalized rows, and the reciprocals of their roots as a column."""
        xp = self.xp
        # einsum sums the squares without an array of them.
        square = xp.einsum("nd,nd->n", rows, rows)
        square /= rows.shape[1] or 1
        square += eps
        inverse = (1 / xp.sqrt(square))[:, None]
        y = rows * inverse
        y *= gamma
        return y, inverse

    def backward(self, x: Array, gamma: Array, gy: Array, inv_rms: Array) -> tuple[Array, Array]:
        """Computes the gradients; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        shape = (_n_rows(x), size)
        rows, gradient = to_compute_dtype(x).reshape(shape), to_compute_dtype(gy).reshape(shape)
        inverse = inv_rms.reshape((shape[0], 1))
        wide_gamma = to_compute_dtype(gamma)
        gx = xp.empty(shape, x.dtype)
        ggamma = xp.zeros(size, rows.dtype)
        for block in row_blocks(xp, shape[0], size):
            part, g, inv = rows[block], gradient[block], inverse[block]
            products = part * g
            ggamma += xp.matmul(inv[:, 0], products)
            by_square = xp.matmul(products, wide_gamma)[:, None] * inv**3 / max(size, 1)
            xp.multiply(g, wide_gamma, out=products)
            products *= inv
            products -= part * by_square
            gx[block] = products
        return gx.reshape(x.shape), ggamma.astype(gamma.dtype, copy=False)


def _n_rows(x: Array) -> int:
    # An explicit number, because reshape(-1, size) is ambiguous for empty arrays.
    return math.prod(x.shape[:-1])
