"""CUDA kernels of the softmax cross entropy."""

from __future__ import annotations

from typing import Any

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide, split_axis
from chainer.backends.cupy.kernels.reductions import SMALL_SIZE
from chainer.backends.numpy.kernels.cross_entropies import LossMeanKernel as ReferenceLossMean
from chainer.backends.numpy.kernels.cross_entropies import score_dtype
from chainer.core.arrays.backend import Backend
from chainer.core.typing import Array, Arrays, Scalar


class SoftmaxCrossEntropyKernel(CudaKernel):
    """Kernel of ``softmax_cross_entropy``."""

    source = "cross_entropy.cu"

    def forward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, keep_score: bool
    ) -> tuple[Array, Array]:
        xp = self.xp
        x, t, weight = map(self.contiguous, (x, t, class_weight))
        # Without classes the kernel is not called, and all losses are zero.
        losses = (self.new if x.size else xp.zeros)(t.shape, x.dtype)
        score = self.new(x.shape, score_dtype(x.dtype, x.shape[1])) if keep_score else None
        self._rows(
            "cross_entropy_forward", x, t, (x, t, weight, losses, score), (int(ignore_label),)
        )
        return losses, score

    def backward(
        self, x: Array, t: Array, class_weight: Array, ignore_label: int, score: Array, scale: Any
    ) -> Array:
        xp = self.xp
        source = self.contiguous(x if score is None else score)
        t, weight = self.contiguous(t), class_weight
        if weight is not None:
            weight = self.contiguous(weight.astype(source.dtype, copy=False))
        factors, factor, step = None, 0.0, 0
        ignore_label = int(ignore_label)
        if isinstance(scale, (int, float)):
            factor = float(scale)
        else:
            factors = scale.astype(compute_dtype(source.dtype), copy=False)
            # A step of 0 lets all samples read one factor; an array of factors has a step of 1.
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
            types = _types(source, t)
            name, scalars = "cross_entropy_backward_score", (n, inner, ignore_label, step, factor)
            self.each(name, types, source.size, *arrays, *scalars)
        return gx

    def _rows(
        self, name: str, x: Array, t: Array, arrays: Arrays, scalars: tuple[Scalar, ...]
    ) -> None:
        if x.size:
            outer, n, inner = split_axis(x.shape, 1)
            types = _types(x, t)
            rows, shared = outer * inner, n if inner == 1 else 1
            self.rows(name, types, rows, shared, *arrays, rows, n, inner, *scalars)


def _types(x: Array, t: Array) -> Types:
    return types_for(x.dtype, wide=is_wide(x), L=t.dtype, S=score_dtype(x.dtype, x.shape[1]))


class LossMeanKernel(CudaKernel):
    """Kernel of ``loss_mean``."""

    source = "cross_entropy.cu"

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._reference = ReferenceLossMean(backend)

    def forward(
        self, losses: Array, t: Array, ignore_label: int, count: int | None
    ) -> tuple[Array, Array]:
        # One block sums the losses, which is slower than CuPy for large arrays.
        size = losses.size
        if size > SMALL_SIZE:
            return self._reference.forward(losses, t, ignore_label, count)
        losses, t = self.contiguous(losses), self.contiguous(t)
        dtype = losses.dtype
        loss, coefficient = self.new((), dtype), self.new((), compute_dtype(dtype))
        # The type of scores that the losses of few classes have: the source is compiled once.
        types = types_for(dtype, L=t.dtype, S=score_dtype(dtype, 1))
        arrays, count = (losses, t, loss, coefficient), -1 if count is None else count
        self.rows("loss_mean", types, 1, size, *arrays, size, int(ignore_label), count)
        return loss, coefficient
