"""CUDA kernels of embeddings."""

from __future__ import annotations

from typing import Any

import numpy

from chainer.backends.compute_dtypes import compute_dtype
from chainer.backends.cupy.kernels._sampling import SamplingKernel, sort_with_order
from chainer.core.typing import Array


class EmbeddingKernel(SamplingKernel):
    """Kernel of ``embedding``. Rows of indices out of range are not-a-number.

    The host cannot check the indices without waiting for the device.
    """

    def forward(self, x: Array, W: Array, ignore_label: int | None) -> Array:
        x, W = self.contiguous(x), self.contiguous(W)
        y = self.new((*x.shape, W.shape[1]), W.dtype)
        types = self.types(W, y, labels=x.dtype)
        self.each(
            "embedding_forward", types, y.size, x, W, y, *self._scalars(W.shape, ignore_label)
        )
        return y

    def backward(
        self, x: Array, gy: Array, shape: tuple[int, int], ignore_label: int | None
    ) -> Array:
        x, gy = self.contiguous(x), self.contiguous(gy)
        # Atomic additions of 16-bit numbers would be slow and inaccurate.
        gW = self.xp.zeros(shape, compute_dtype(gy.dtype))
        types = self.types(gy, gW, labels=x.dtype)
        scalars = self._scalars(shape, ignore_label)
        self.each("embedding_backward", types, gy.size, x, gy, gW, *scalars)
        return gW.astype(gy.dtype, copy=False)

    def _scalars(self, shape: tuple[int, int], ignore_label: int | None) -> tuple[Any, ...]:
        return (*shape, ignore_label is not None, 0 if ignore_label is None else int(ignore_label))


class DeterministicEmbeddingKernel(EmbeddingKernel):
    """Kernel of ``embedding`` whose gradients are sums in the order of the sorted indices."""

    def backward(
        self, x: Array, gy: Array, shape: tuple[int, int], ignore_label: int | None
    ) -> Array:
        x, gy = self.contiguous(x), self.contiguous(gy)
        gW = self.new(shape, gy.dtype)
        types = self.types(gy, gW, labels=x.dtype)
        keys = self.new(x.size, numpy.int64)
        rows, width, *ignored = self._scalars(shape, ignore_label)
        self.each("embedding_keys", types, x.size, x, keys, rows, *ignored)
        self.each(
            "embedding_sums", types, gW.size, *sort_with_order(self.xp, keys), gy, gW, width, x.size
        )
        return gW
