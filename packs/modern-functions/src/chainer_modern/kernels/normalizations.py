"""Reference kernel of RMS normalization, block by block of vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from chainer.kernel import ReferenceKernel
from chainer_modern.blocks import BLOCK, widened


def _steps(xp: Any, count: int, size: int) -> Iterator[slice]:
    """Cuts ``count`` things of ``size`` elements into blocks."""
    step = max(BLOCK // max(size, 1), 1) if xp is numpy else max(count, 1)
    for start in range(0, count, step):
        yield slice(start, start + step)


class RMSNormalizationKernel(ReferenceKernel):
    """Division by the root of the mean square."""

    def forward(self, x: Any, gamma: Any, eps: float) -> tuple[Any, Any]:
        """Computes the output; see the operation."""
        xp = self.xp
        size = x.shape[-1]
        rows = widened(x).reshape((_n_rows(x), size))
        wide_gamma = widened(gamma)
        y = xp.empty(rows.shape, x.dtype)
        inv_rms = xp.empty((len(rows), 1), rows.dtype)
        for block in _steps(xp, len(rows), size):
            part = rows[block]
            square = xp.einsum("nd,nd->n", part, part)
            square /= max(size, 1)
            square += eps
            inv = (1 / xp.sqrt(square))[:, None]
            inv_rms[block] = inv
            part = part * inv
            part *= wide_gamma
            y[block] = part
        return y.reshape(x.shape), inv_rms.reshape((*x.shape[:-1], 1))

    def backward(self, x: Any, gamma: Any, gy: Any, inv_rms: Any) -> tuple[Any, Any]:
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


def _n_rows(x: Any) -> int:
    total = 1
    for length in x.shape[:-1]:
        total *= length
    return total
