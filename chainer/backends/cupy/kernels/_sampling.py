"""Base of kernels that read and write at positions that are data."""

from __future__ import annotations

import numpy

from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array, ArrayModule

_INT = numpy.dtype(numpy.int32)


class SamplingKernel(CudaKernel):
    source = "sampling.cu"

    def types(self, *arrays: Array, labels: Array = _INT) -> Types:
        """Returns the types to compile for, given arrays of one type."""
        return types_for(arrays[0].dtype, wide=is_wide(*arrays), L=labels)


def sort_with_order(xp: ArrayModule, keys: Array) -> tuple[Array, Array]:
    """Returns sorted numbers and, as int64, the place of each before."""
    order = xp.argsort(keys, kind="stable").astype(numpy.int64, copy=False)
    return keys[order], order
