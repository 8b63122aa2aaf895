"""The functions of the CUDA source of recurrent networks."""

from __future__ import annotations

from typing import Any

from chainer.backends.cupy.compiler import types_for
from chainer.backends.cupy.kernels._base import CudaKernel, is_wide
from chainer.core.typing import Array


class RNNFunctions(CudaKernel):
    """The functions of the source ``rnn.cu``."""

    source = "rnn.cu"

    def call(self, name: str, out: Array, *args: Any) -> None:
        """Calls a function with one thread for each element of ``out``."""
        types = types_for(out.dtype, wide=is_wide(out) or 4 * out.size >= 1 << 30)
        self.each(name, types, out.size, *args)
