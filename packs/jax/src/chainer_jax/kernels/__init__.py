"""Kernels of the pack: where the reference kernels would become thousands of operations of XLA.

Loops of the reference kernels over blocks, windows and times are unrolled when they are recorded:
compiling them takes half a minute. These are single operations of XLA, or a loop inside of it.
"""

from __future__ import annotations

from chainer.kernel import Kernel

_KERNELS = {
    "ada_delta_update": "updates:AdaDeltaKernel",
    "ada_grad_update": "updates:AdaGradKernel",
    "adam_update": "updates:AdamKernel",
    "average_pooling_nd": "poolings:AveragePoolingNDKernel",
    "convolution_nd": "convolutions:ConvolutionNDKernel",
    "max_pooling_nd": "poolings:MaxPoolingNDKernel",
    "n_step_rnn": "rnns:NStepRNNKernel",
    "nesterov_ag_update": "updates:NesterovAGKernel",
    "rmsprop_update": "updates:RMSpropKernel",
}


def declarations() -> list[Kernel]:
    """Returns the declarations of all kernels."""
    return [
        Kernel(
            operation=operation,
            array_type="chainer_array_api.array:JaxArray",
            provider="jax",
            load=f"chainer_jax.kernels.{place}",
        )
        for operation, place in _KERNELS.items()
    ]
