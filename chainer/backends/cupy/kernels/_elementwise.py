"""Base class of kernels that compute each element on its own."""

from __future__ import annotations

from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array, Arrays


def element_types(x: Array) -> Types:
    return types_for(x.dtype, None, is_wide(x))


class ElementwiseKernel(CudaKernel):
    source = "activations.cu"

    def map(self, name: str, *arrays: Array, scalars: Arrays = ()) -> Array:
        """Calls a function of arrays of one shape; the result is a new array."""
        arrays = tuple([self.contiguous(array) for array in arrays])
        y = self.new_like(arrays[-1])
        self.each(name, element_types(y), y.size, *arrays, y, *scalars)
        return y
