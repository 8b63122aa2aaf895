"""Reference kernel of embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from chainer.backends.numpy.kernels._row_scatter import (
    COLUMN_BLOCK,
    ELEMENTS_OF_ROW,
    ROW_BLOCK,
    scatter_add_columns,
    scatter_add_rows,
)
from chainer.core.arrays.chunks import chunk_bytes, chunks
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.kernel import ReferenceKernel
from chainer.core.typing import Array


class EmbeddingKernel(ReferenceKernel):
    """Embedding by gathering rows; gradients are written, and added where a number comes again."""

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
        numbers = x.ravel()
        rows = gy.reshape(len(numbers), shape[1])
        if ignore_label is not None:
            used = numbers != ignore_label
            numbers, rows = numbers[used], rows[used]
        working = numpy.float32 if is_half(gy.dtype) else gy.dtype
        if self.xp is not numpy:
            gW = self.xp.zeros(shape, working)
            self.xp.add.at(gW, numbers, rows.astype(working, copy=False))
        else:
            # Planned before there is ``gW``: what planning takes is free again.
            again = _come_again(numbers, shape)
            gW = numpy.zeros(shape, working)
            if again is None:
                scatter_add_rows(gW, numbers, rows)
            else:
                for part in chunks(len(rows), 1, ROW_BLOCK):
                    gW[numbers[part]] = rows[part]
                _add_again(gW, numbers, again, rows.__getitem__)
        return gW.astype(gy.dtype, copy=False)

    def backward_outer(
        self, x: Array, factors: Array, vectors: Array, shape: tuple[int, int]
    ) -> Array:
        count = factors.shape[1]
        vectors = vectors.astype(factors.dtype, copy=False)
        numbers, flat = x.ravel(), factors.ravel()
        if self.xp is not numpy:
            gW = self.xp.zeros(shape, factors.dtype)
            rows = factors[:, :, None] * vectors[:, None]
            self.xp.add.at(gW, numbers, rows.reshape(len(numbers), shape[1]))
            return gW
        again = _come_again(numbers, shape)
        gW = numpy.zeros(shape, factors.dtype)
        if again is None:
            for part in chunks(len(x), count, COLUMN_BLOCK):
                some = factors[part]
                columns = ((some * column[:, None]).ravel() for column in vectors[part].T)
                scatter_add_columns(gW, x[part].ravel(), columns)
        else:
            most = chunk_bytes(gW.nbytes, 128)
            for part in chunks(len(x), count * gW[:1].nbytes, most):
                # Buffers of a product of arrays that are broadcast would take more memory.
                gW[x[part]] = numpy.einsum("nk,nd->nkd", factors[part], vectors[part])
            _add_again(gW, numbers, again, lambda i: flat[i] * vectors[i // count])
        return gW


def _come_again(numbers: Array, shape: tuple[int, int]) -> Any | None:
    """Tells which of the numbers come again later; None if those are too many for a loop."""
    count, width = shape
    most = len(numbers) * width // ELEMENTS_OF_ROW
    if len(numbers) - count > most:
        return None
    numbers = numbers.astype(numpy.intp) % max(count, 1)  # those counted from the end are the same
    order = numpy.argsort(numbers, kind="stable")
    numbers = numbers[order]
    again = numpy.zeros(len(numbers), bool)
    again[order[:-1]] = numbers[1:] == numbers[:-1]
    return again if numpy.count_nonzero(again) <= most else None


def _add_again(gW: Array, numbers: Array, again: Array, row: Callable[[int], Any]) -> None:
    """Adds the rows that come again to those of ``gW``, which hold the last of each number."""
    for part in chunks(len(numbers), 1, ROW_BLOCK):
        places = numpy.nonzero(again[part])[0] + part.start
        for i, number in zip(places.tolist(), numbers[places].tolist(), strict=True):
            target = gW[number]
            target += row(i)
