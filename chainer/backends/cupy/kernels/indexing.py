"""CUDA kernels of scatter-add."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from chainer.backends.cupy.kernels.embeddings import DeterministicEmbeddingKernel, EmbeddingKernel
from chainer.backends.numpy.kernels.indexing import ScatterAddKernel as ReferenceScatterAddKernel
from chainer.backends.numpy.kernels.indexing import rows_of, selects_once
from chainer.core.arrays.backend import Backend
from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.typing import Array


class ScatterAddKernel(ReferenceScatterAddKernel):
    """Kernel of ``scatter_add``: CuPy's function, without a check of the indices.

    A check would wait for the device. Arrays of 16-bit types are summed in float32; CuPy has no
    scatter-add for bfloat16.
    """

    #: Class of the kernel that sums rows.
    sums: ClassVar[type[EmbeddingKernel]] = EmbeddingKernel

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._sums = self.sums(backend)

    def add_at(self, a: Array, slices: Any, b: Array) -> None:
        """Adds ``b`` to ``a[slices]`` in place."""
        if isinstance(slices, list):
            slices = self.xp.asarray(slices)
        if selects_once(slices):
            a[slices] += b
        elif self.sums_itself(a):
            self._add(a, slices, b)
        else:
            self.xp.add.at(a, slices, b)

    def sums_itself(self, a: Array) -> bool:
        """Returns whether this kernel adds to an array instead of CuPy."""
        return is_half(a.dtype)

    def _add(self, a: Array, slices: Any, b: Array) -> None:
        """Adds to an array by the kernel of embeddings, whose gradient is the same sum of rows."""
        rows = rows_of(slices)
        if rows is None:
            indices, width = self.positions(a.shape, slices), 1
        else:
            indices, width = self.xp.asarray(rows), prod(a.shape[1:])
        shape = (prod(a.shape) // max(width, 1), width)
        if b.size:
            a += self._sums.backward(indices.reshape(-1), b, shape, None).reshape(a.shape)


class DeterministicScatterAddKernel(ScatterAddKernel):
    """Kernel of ``scatter_add`` that sums in the order of the sorted positions."""

    sums = DeterministicEmbeddingKernel

    def sums_itself(self, a: Array) -> bool:
        """Returns whether this kernel adds to an array instead of CuPy."""
        return True
