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
    """Kernel of ``scatter_add``: CuPy's, without a look at the indexes, which takes waiting.

    Sums of 16-bit types are made in float32, of which CuPy has none for bfloat16.
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
        elif self.adds(a):
            self._add(a, slices, b)
        else:
            self.xp.add.at(a, slices, b)

    def adds(self, a: Array) -> bool:
        """Tells whether CuPy is not to add to an array."""
        return is_half(a.dtype)

    def _add(self, a: Array, slices: Any, b: Array) -> None:
        """Adds what the kernel of embeddings makes of ``b``, in an array as large as ``a``."""
        rows = rows_of(slices)
        if rows is None:
            places, width = self.positions(a.shape, slices), 1
        else:
            places, width = self.xp.asarray(rows), prod(a.shape[1:])
        shape = (prod(a.shape) // max(width, 1), width)
        if b.size:
            a += self._sums.backward(places.reshape(-1), b, shape, None).reshape(a.shape)


class DeterministicScatterAddKernel(ScatterAddKernel):
    """Kernel of ``scatter_add`` whose sums are made in a fixed order: of sorted positions."""

    sums = DeterministicEmbeddingKernel

    def adds(self, a: Array) -> bool:
        """Tells whether CuPy is not to add to an array."""
        return True
