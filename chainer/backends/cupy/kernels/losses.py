"""Kernels of the softmax cross entropy and of connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.cupy.compiler import compute_dtype, types_for
from chainer.backends.cupy.kernels.base import CudaKernel, is_wide, split_axis
from chainer.backends.cupy.kernels.reductions import SMALL
from chainer.backends.numpy.kernels.cross_entropies import LossMeanKernel as ReferenceLossMean

#: Loss of what has no alignment, where the data type can hold it.
_IMPOSSIBLE_LOSS = 1e10


class SoftmaxCrossEntropyKernel(CudaKernel):
    """Kernel of ``softmax_cross_entropy``."""

    source = "cross_entropy.cu"

    def forward(
        self, x: Any, t: Any, class_weight: Any, ignore_label: int, keep_score: bool
    ) -> tuple[Any, Any]:
        xp = self.xp
        x, t, weight = map(self.contiguous, (x, t, class_weight))
        losses = (self.new if x.size else xp.zeros)(t.shape, x.dtype)
        score = self.new(x.shape, compute_dtype(x.dtype)) if keep_score else None
        self._rows(
            "cross_entropy_forward", x, t, (x, t, weight, losses, score), (int(ignore_label),)
        )
        return losses, score

    def backward(
        self, x: Any, t: Any, class_weight: Any, ignore_label: int, score: Any, scale: Any
    ) -> Any:
        xp = self.xp
        source = self.contiguous(x if score is None else score)
        t, weight = self.contiguous(t), class_weight
        arithmetic = compute_dtype(source.dtype)
        if weight is not None:
            weight = self.contiguous(weight.astype(source.dtype, copy=False))
        factors, factor, step = None, 0.0, 0
        ignore_label = int(ignore_label)
        if isinstance(scale, (int, float)):
            factor = float(scale)
        else:
            factors = scale.astype(arithmetic, copy=False)
            if factors.size != 1 or t.size == 1:
                factors = self.contiguous(xp.broadcast_to(factors, t.shape))
                step = 1
        gx = self.new_like(source)
        arrays = (source, t, weight, factors, gx)
        if score is None:
            scalars = (ignore_label, step, factor)
            self._rows("cross_entropy_backward", source, t, arrays, scalars)
        else:
            _, n, inner = split_axis(source.shape, 1)
            types = types_for(source.dtype, wide=is_wide(source), L=t.dtype)
            name, scalars = "cross_entropy_backward_score", (n, inner, ignore_label, step, factor)
            self.each(name, types, source.size, *arrays, *scalars)
        return gx

    def _rows(
        self, name: str, x: Any, t: Any, arrays: tuple[Any, ...], scalars: tuple[Any, ...]
    ) -> None:
        if x.size:
            outer, n, inner = split_axis(x.shape, 1)
            types = types_for(x.dtype, wide=is_wide(x), L=t.dtype)
            rows, shared = outer * inner, n if inner == 1 else 1
            self.rows(name, types, rows, shared, *arrays, rows, n, inner, *scalars)


class LossMeanKernel(CudaKernel):
    """Kernel of ``loss_mean``."""

    source = "cross_entropy.cu"

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        self._reference = ReferenceLossMean(backend)

    def forward(self, losses: Any, t: Any, ignore_label: int, count: int | None) -> tuple[Any, Any]:
        size = losses.size
        if size > SMALL:
            return self._reference.forward(losses, t, ignore_label, count)
        losses, t = self.contiguous(losses), self.contiguous(t)
        dtype = losses.dtype
        loss, coefficient = self.new((), dtype), self.new((), compute_dtype(dtype))
        types = types_for(dtype, L=t.dtype)
        arrays, count = (losses, t, loss, coefficient), -1 if count is None else count
        self.rows("loss_mean", types, 1, size, *arrays, size, int(ignore_label), count)
        return loss, coefficient


class ConnectionistTemporalClassificationKernel(CudaKernel):
    """Kernel of ``connectionist_temporal_classification``: a block for each sequence."""

    source = "ctc.cu"

    def forward(
        self, x: Any, t: Any, blank: int, input_length: Any, label_length: Any
    ) -> tuple[Any, Any]:
        x, t, lengths = self._prepared(x, t, input_length, label_length)
        steps, batch, classes = x.shape
        width = t.shape[1]
        dtype = compute_dtype(x.dtype)
        types = self._types(x, t)
        log_sums = self.new((steps, batch), dtype)
        if x.size:
            rows = steps * batch
            self.rows("ctc_log_sums", types, rows, classes, x, log_sums, rows, classes)
        trellis = self.new((steps, batch, 2 * width + 1), dtype)
        log_p = self.new(batch, dtype)
        losses = self.new(batch, x.dtype)
        impossible = min(_IMPOSSIBLE_LOSS, float(numpy.finfo(x.dtype).max))
        self._blocks(
            "ctc_forward",
            types,
            batch,
            width,
            *(x, t, *lengths, log_sums, trellis, log_p, losses),
            *(steps, batch, classes, width, int(blank), impossible),
        )
        return losses, (log_sums, trellis, log_p)

    def backward(
        self,
        x: Any,
        t: Any,
        blank: int,
        input_length: Any,
        label_length: Any,
        saved: Any,
        scale: Any,
    ) -> Any:
        xp = self.xp
        x, t, lengths = self._prepared(x, t, input_length, label_length)
        _, batch, classes = x.shape
        width = t.shape[1]
        dtype = compute_dtype(x.dtype)
        gx = xp.zeros(x.shape, dtype)
        beta = self.new((3, batch, 2 * width + 1), dtype)
        scale = self.contiguous(scale.astype(dtype, copy=False))
        self._blocks(
            "ctc_backward",
            self._types(x, t),
            batch,
            width,
            *(x, t, *lengths, *saved, scale, gx, beta),
            *(batch, classes, width, int(blank)),
        )
        return gx.astype(x.dtype, copy=False)

    def _prepared(self, x: Any, t: Any, *lengths: Any) -> tuple[Any, Any, list[Any]]:
        wide = [self.contiguous(length.astype(numpy.int64, copy=False)) for length in lengths]
        return self.contiguous(x), self.contiguous(t), wide

    def _types(self, x: Any, t: Any) -> Any:
        # The trellis has two states for each label and one; three steps are kept in backward.
        states = 2 * t.size + x.shape[1]
        wide = is_wide(x) or max(len(x), 3) * states >= 1 << 30
        return types_for(x.dtype, wide=wide, L=t.dtype, M=numpy.dtype(numpy.int64))

    def _blocks(self, name: str, types: Any, batch: int, width: int, *args: Any) -> None:
        if batch:
            threads = min(max(32, -(-(2 * width + 1) // 32) * 32), 512)
            self.function(name, types)((batch,), (threads,), args)
