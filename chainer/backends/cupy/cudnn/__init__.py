"""Kernels on cuDNN: the table of them. Nothing here imports cudnn.

What cuDNN's graph API does not offer through its Python front end (pooling, softmax, recurrent
networks), or offers for few layouts only, is left to the fused kernels of the CuPy backend.
"""

from __future__ import annotations

from collections.abc import Iterator

from chainer.core.kernel import Kernel

_ROOM = "chainer.backends.cupy.cudnn"

#: Operation -> (module and class of the implementation, function of ``checks`` that decides).
_KERNELS = {
    "convolution_nd": ("convolutions:ConvolutionNDKernel", "convolution"),
}


def declarations() -> Iterator[Kernel]:
    """Yields the declaration of every kernel of this room."""
    for operation, (place, check) in _KERNELS.items():
        yield Kernel(
            operation,
            "cupy:ndarray",
            "cudnn",
            load=f"{_ROOM}.{place}",
            supports=f"{_ROOM}.checks:{check}",
            priority=10,
            unavailable=f"{_ROOM}.library:missing",
        )
