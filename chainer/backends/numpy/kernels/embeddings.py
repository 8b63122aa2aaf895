"""Reference kernel of embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from chainer.core.kernel import ReferenceKernel
from chainer.core.utils.blocks import blocks
from chainer.core.utils.extended_dtypes import is_half

#: Least memory for the rows which are sorted at a time; else a share of that of the gradients.
_LEAST_BYTES = 1 << 16


class EmbeddingKernel(ReferenceKernel):
    """Embedding by gathering rows; gradients are sorted by row and summed in runs."""

    def forward(self, x: Any, W: Any, ignore_label: int | None) -> Any:
        if ignore_label is None:
            return W.take(x, axis=0)
        ignored = x == ignore_label
        y = W.take(self.xp.where(ignored, 0, x), axis=0)
        y[ignored] = 0
        return y

    def backward(self, x: Any, gy: Any, shape: tuple[int, int], ignore_label: int | None) -> Any:
        numbers = x.ravel()
        rows = gy.reshape(-1, shape[1])
        if ignore_label is not None:
            used = numbers != ignore_label
            numbers, rows = numbers[used], rows[used]
        working = numpy.float32 if is_half(gy.dtype) else gy.dtype
        gW = self.xp.zeros(shape, working)
        most = max(_LEAST_BYTES, (gW.nbytes + gy.nbytes) // 128)

        self._add_rows(gW, numbers, lambda order: rows.take(order, axis=0), most)
        return gW.astype(gy.dtype, copy=False)

    def backward_outer(self, x: Any, factors: Any, vectors: Any, shape: tuple[int, int]) -> Any:
        gW = self.xp.zeros(shape, factors.dtype)
        count, width = factors.shape[1], shape[1]
        factors = factors.reshape(-1)
        vectors = vectors.astype(gW.dtype, copy=False)

        def rows(order: Any) -> Any:
            rows = vectors.take(order // count, axis=0)
            # Operands of one shape: NumPy would take more memory to broadcast a column.
            rows *= factors.take(order).repeat(width).reshape(rows.shape)
            return rows

        most = max(_LEAST_BYTES // 16, (gW.nbytes + vectors.nbytes) // 48)
        self._add_rows(gW, x.ravel(), rows, most)
        return gW

    def _add_rows(self, gW: Any, numbers: Any, rows: Callable[[Any], Any], most_bytes: int) -> None:
        """Adds rows to those of ``gW`` that ``numbers`` tells, in blocks.

        Args:
            gW: Array of zeros.
            numbers: Number of each row, possibly counted from the end.
            rows: Function from the places of some of the rows to a new array.
            most_bytes: Memory that the rows of a block may take.
        """
        xp = self.xp
        count = len(numbers)
        if count == 0:
            return
        numbers = xp.where(numbers < 0, numbers + len(gW), numbers)
        if getattr(xp.add, "reduceat", None) is None:
            xp.add.at(gW, numbers, rows(xp.arange(count)).astype(gW.dtype, copy=False))
            return
        order = xp.argsort(numbers, kind="stable")
        numbers = numbers[order]
        first = xp.ones(count, bool)
        xp.not_equal(numbers[1:], numbers[:-1], out=first[1:])
        # Most numbers come once, if there are many.
        once, again = [(numbers[some], order[some]) for some in (first, xp.logical_not(first))]
        del numbers, order  # each of these is as large as a few rows
        row_bytes = gW.shape[1] * gW.itemsize if xp is numpy else 0
        for part in blocks(len(once[0]), row_bytes, most_bytes):
            gW[once[0][part]] = rows(once[1][part])
        for part in blocks(len(again[0]), row_bytes, most_bytes // 2):  # sums take as much again
            self._add_runs(gW, again[0][part], rows(again[1][part]))

    def _add_runs(self, gW: Any, numbers: Any, rows: Any) -> None:
        """Adds rows whose numbers are sorted: sums of each run of the same number."""
        xp = self.xp
        first = xp.ones(len(numbers), bool)
        xp.not_equal(numbers[1:], numbers[:-1], out=first[1:])
        starts = xp.nonzero(first)[0]
        rows = xp.add.reduceat(rows, starts, axis=0, dtype=gW.dtype)  # frees what it was before
        gW[numbers[starts]] += rows
