"""Kernels on cuDNN: the table of them. Nothing here imports cudnn.

Convolutions of all kinds are here, and batch normalisation of arrays whose channels lie last: for
others cuDNN rearranges input and output in its workspace, which costs more than the normalisation.
Its Python front end offers neither pooling nor softmax nor recurrent networks, and it has no engine
for batch normalisation with given statistics; the fused kernels of the CuPy backend serve these.
"""

from __future__ import annotations

from collections.abc import Iterator

from chainer.core.arrays.kernel import Kernel

_PACKAGE = "chainer.backends.cupy.cudnn.kernels"

#: Operation -> (module and class of the implementation, function of ``checks`` that decides).
_KERNELS = {
    "batch_normalization": ("normalizations:BatchNormalizationKernel", "normalization"),
    "convolution_nd": ("convolutions:ConvolutionNDKernel", "convolution"),
}


def declarations() -> Iterator[Kernel]:
    """Yields the declaration of every kernel of this package."""
    for operation, (place, check) in _KERNELS.items():
        yield Kernel(
            operation,
            "cupy:ndarray",
            "cudnn",
            load=f"{_PACKAGE}.{place}",
            supports=f"{_PACKAGE}._checks:{check}",
            priority=10,
            unavailable="chainer.backends.cupy.cudnn.library:missing",
        )
