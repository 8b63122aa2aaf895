"""Views of CuPy arrays by strides."""

from __future__ import annotations

from chainer.backends.cupy import library
from chainer.backends.numpy.kernels.strided_views import AsStridedKernel as ReferenceAsStridedKernel
from chainer.core.typing import Array, Shape


class AsStridedKernel(ReferenceAsStridedKernel):
    """Kernel of ``as_strided``; the buffer of an array is its allocation."""

    def geometry(self, x: Array) -> tuple[Shape, int, int]:
        memory = x.data.mem
        strides = tuple([stride // x.itemsize for stride in x.strides])
        return strides, (x.data.ptr - memory.ptr) // x.itemsize, memory.size // x.itemsize

    def forward(self, x: Array, shape: Shape, strides: Shape, offset: int) -> Array:
        pointer = library.require().cuda.MemoryPointer(x.data.mem, offset * x.itemsize)
        steps = tuple([stride * x.itemsize for stride in strides])
        return self.xp.ndarray(shape, x.dtype, pointer, steps)
