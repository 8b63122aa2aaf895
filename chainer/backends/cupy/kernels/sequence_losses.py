"""CUDA kernel of connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.cupy.compiler import compute_dtype, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array

#: Loss of what has no alignment, where the data type can hold it.
_IMPOSSIBLE_LOSS = 1e10


class ConnectionistTemporalClassificationKernel(CudaKernel):
    """Kernel of ``connectionist_temporal_classification``: a block for each sequence."""

    source = "ctc.cu"

    def forward(
        self, x: Array, t: Array, blank: int, input_length: Array, label_length: Array
    ) -> tuple[Array, Array]:
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
        x: Array,
        t: Array,
        blank: int,
        input_length: Array,
        label_length: Array,
        saved: Any,
        scale: Any,
    ) -> Array:
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

    def _prepared(self, x: Array, t: Array, *lengths: Array) -> tuple[Array, Array, list[Array]]:
        wide = [self.contiguous(length.astype(numpy.int64, copy=False)) for length in lengths]
        return self.contiguous(x), self.contiguous(t), wide

    def _types(self, x: Array, t: Array) -> Array:
        # The trellis has two states for each label and one; three steps are kept in backward.
        states = 2 * t.size + x.shape[1]
        wide = is_wide(x) or max(len(x), 3) * states >= 1 << 30
        return types_for(x.dtype, wide=wide, L=t.dtype, M=numpy.dtype(numpy.int64))

    def _blocks(self, name: str, types: Any, batch: int, width: int, *args: Any) -> None:
        if batch:
            threads = min(max(32, -(-(2 * width + 1) // 32) * 32), 512)
            self.function(name, types)((batch,), (threads,), args)
