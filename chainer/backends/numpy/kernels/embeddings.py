"""Reference kernel of embeddings."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.numpy.kernels._row_scatter import (
    COLUMN_BLOCK,
    ELEMENTS_OF_ROW,
    ROW_BLOCK,
    scatter_add_columns,
    scatter_add_rows,
)
from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class EmbeddingKernel(ReferenceKernel):
    """Embedding by gathering rows.

    The gradient of a row is stored at the first index that selects it, and added for repeated
    indices. Most batches repeat few indices, and storing is much faster than adding.
    """

    def forward(self, x: Array, W: Array, ignore_label: int | None) -> Array:
        if ignore_label is None:
            return W.take(x, axis=0)
        ignored = x == ignore_label
        y = W.take(self.xp.where(ignored, 0, x), axis=0)
        y[ignored] = 0
        return y

    def backward(
        self, x: Array, gy: Array, shape: tuple[int, int], ignore_label: int | None
    ) -> Array:
        indices = x.ravel()
        rows = gy.reshape(len(indices), shape[1])
        if ignore_label is not None:
            used = indices != ignore_label
            indices, rows = indices[used], rows[used]
        dtype = compute_dtype(gy.dtype)
        if self.xp is not numpy:
            gW = self.xp.zeros(shape, dtype)
            self.xp.add.at(gW, indices, rows.astype(dtype, copy=False))
        else:
            # The search needs memory, which is free again before gW is allocated.
            repeated = _repeated(indices, shape)
            gW = numpy.zeros(shape, dtype)
            if repeated is None:
                scatter_add_rows(gW, indices, rows)
            else:
                for part in chunks(len(rows), 1, ROW_BLOCK):
                    gW[indices[part]] = rows[part]
                _add_repeated(gW, indices, repeated, rows.__getitem__)
        return gW.astype(gy.dtype, copy=False)

    def backward_outer(
        self, x: Array, factors: Array, vectors: Array, shape: tuple[int, int]
    ) -> Array:
        count = factors.shape[1]
        vectors = vectors.astype(factors.dtype, copy=False)
        indices, flat = x.ravel(), factors.ravel()
        if self.xp is not numpy:
            gW = self.xp.zeros(shape, factors.dtype)
            rows = factors[:, :, None] * vectors[:, None]
            self.xp.add.at(gW, indices, rows.reshape(len(indices), shape[1]))
            return gW
        repeated = _repeated(indices, shape)
        gW = numpy.zeros(shape, factors.dtype)
        if repeated is None:
            for part in chunks(len(x), count, COLUMN_BLOCK):
                some = factors[part]
                columns = ((some * column[:, None]).ravel() for column in vectors[part].T)
                scatter_add_columns(gW, x[part].ravel(), columns)
        else:
            most = chunk_bytes(gW.nbytes, 128)
            for part in chunks(len(x), count * gW[:1].nbytes, most):
                # A product with broadcasting would allocate buffers; einsum writes the result only.
                gW[x[part]] = numpy.einsum("nk,nd->nkd", factors[part], vectors[part])
            _add_repeated(gW, indices, repeated, lambda i: flat[i] * vectors[i // count])
        return gW


def _repeated(indices: Array, shape: tuple[int, int]) -> Array | None:
    """Returns which indices occur again later; None if those are too many for a loop."""
    count, width = shape
    most = len(indices) * width // ELEMENTS_OF_ROW
    # So many indices must repeat that sorting them would be wasted.
    if len(indices) - count > most:
        return None
    indices = indices.astype(numpy.intp) % max(count, 1)  # -1 and count - 1 are the same row
    order = numpy.argsort(indices, kind="stable")
    indices = indices[order]
    repeated = numpy.zeros(len(indices), bool)
    repeated[order[:-1]] = indices[1:] == indices[:-1]
    return repeated if numpy.count_nonzero(repeated) <= most else None


def _add_repeated(gW: Array, indices: Array, repeated: Array, row: Callable[[int], Array]) -> None:
    """Adds the rows whose index occurs again to ``gW``, which has the last row of each index."""
    for part in chunks(len(indices), 1, ROW_BLOCK):
        positions = numpy.nonzero(repeated[part])[0] + part.start
        for i, index in zip(positions.tolist(), indices[positions].tolist(), strict=True):
            target = gW[index]
            target += row(i)
