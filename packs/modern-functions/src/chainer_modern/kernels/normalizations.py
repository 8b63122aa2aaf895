"""Reference kernel of RMS normalization, block by block of vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy

from chainer.kernel import ReferenceKernel
from chainer.typing import Array, ArrayModule
from chainer_modern.blocks import BLOCK, widened


def _steps(xp: ArrayModule, count: int, size: int) -> Iterator[slice]:
    """Cuts ``count`` rows of ``size`` elements into blocks of rows."""
    step = max(BLOCK // max(size, 1), 1) if xp is numpy else max(count, 1)
    for start in range(0, count, step):
        yield slice(start, start + step)


class RMSNormalizationKernel(ReferenceKernel):
    """Division by the root of the mean square."""

    def forward(self, x: Array, gamma: Array, eps: float) -> tuple[Array, Array]:
        """Computes the output; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        rows = widened(x).reshape((_n_rows(x), size))
        wide_gamma = widened(gamma)
        y = xp.empty(rows.shape, x.dtype)
        inv_rms = xp.empty((len(rows), 1), rows.dtype)
        for block in _steps(xp, len(rows), size):
            part = rows[block]
            # einsum sums the squares without an array of them.
            square = xp.einsum("nd,nd->n", part, part)
            square /= max(size, 1)
            square += eps
            inv = (1 / xp.sqrt(square))[:, None]
            inv_rms[block] = inv
            part = part * inv
            part *= wide_gamma
            y[block] = part
        return y.reshape(x.shape), inv_rms.reshape((*x.shape[:-1], 1))

    def backward(self, x: Array, gamma: Array, gy: Array, inv_rms: Array) -> tuple[Array, Array]:
        """Computes the gradients; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        shape = (_n_rows(x), size)
        rows, gradient = widened(x).reshape(shape), widened(gy).reshape(shape)
        inverse = inv_rms.reshape((shape[0], 1))
        wide_gamma = widened(gamma)
        gx = xp.empty(shape, x.dtype)
        ggamma = xp.zeros(size, rows.dtype)
        for block in _steps(xp, shape[0], size):
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
