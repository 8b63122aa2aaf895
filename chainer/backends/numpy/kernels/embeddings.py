"""Reference kernel of embeddings."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.core.kernel import ReferenceKernel
from chainer.core.utils.extended_dtypes import is_half


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
        xp = self.xp
        numbers = x.ravel()
        rows = gy.reshape(-1, shape[1])
        if ignore_label is not None:
            used = numbers != ignore_label
            numbers, rows = numbers[used], rows[used]
        numbers = xp.where(numbers < 0, numbers + shape[0], numbers)
        working = numpy.float32 if is_half(gy.dtype) else gy.dtype
        gW = xp.zeros(shape, working)
        if len(numbers) == 0:
            return gW.astype(gy.dtype, copy=False)
        reduceat = getattr(xp.add, "reduceat", None)
        if reduceat is None:
            xp.add.at(gW, numbers, rows.astype(working, copy=False))
        else:
            order = xp.argsort(numbers, kind="stable")
            numbers = numbers[order]
            first = xp.ones(len(numbers), bool)
            first[1:] = numbers[1:] != numbers[:-1]
            starts = xp.nonzero(first)[0]
            gW[numbers[starts]] = reduceat(rows.take(order, axis=0), starts, axis=0, dtype=working)
        return gW.astype(gy.dtype, copy=False)
