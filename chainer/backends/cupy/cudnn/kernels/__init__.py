"""The table of the kernels on cuDNN. Nothing here imports cudnn.

cuDNN serves all kinds of convolutions, and batch normalization of arrays whose channels are last.
For other arrays it would rearrange input and output in its workspace, which takes longer than the
normalization. Its Python front end has no pooling, no softmax and no recurrent networks, and it has
no engine for batch normalization with given statistics. The CUDA kernels of the CuPy backend serve
these operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from chainer.core.arrays.kernel import Kernel

_PACKAGE = "chainer.backends.cupy.cudnn.kernels"

#: Operation -> (module and class of the implementation, function of ``_checks`` that decides).
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
