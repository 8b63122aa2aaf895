"""Base class of kernels that compute each element on its own."""

from __future__ import annotations

from chainer.backends.cupy.compiler import Types, types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array, Scalar


def element_types(x: Array) -> Types:
    """Returns the types to compile for, given one of the arrays."""
    return types_for(x.dtype, None, is_wide(x))


class ElementwiseKernel(CudaKernel):
    """Base of the kernels on functions of ``activations.cu``."""

    source = "activations.cu"

    def map(self, name: str, *arrays: Array, scalars: tuple[Scalar, ...] = ()) -> Array:
        """Calls a function of arrays of one shape, and returns its result, a new array."""
        arrays = tuple([self.contiguous(array) for array in arrays])
        y = self.new_like(arrays[-1])
        self.each(name, element_types(y), y.size, *arrays, y, *scalars)
        return y
