"""Kernels of the pack: where the reference kernels would become thousands of operations of XLA.

Loops of the reference kernels over blocks, windows and times are unrolled when they are recorded:
compiling them takes half a minute. These are single operations of XLA, or a loop inside of it.
"""

from __future__ import annotations

from chainer.kernel import Kernel

_KERNELS = {
    "average_pooling_nd": "poolings:AveragePoolingNDKernel",
    "convolution_nd": "convolutions:ConvolutionNDKernel",
    "max_pooling_nd": "poolings:MaxPoolingNDKernel",
    "n_step_rnn": "rnns:NStepRNNKernel",
    "softmax_cross_entropy": "cross_entropies:SoftmaxCrossEntropyKernel",
}

#: Operations whose reference kernels become one program for each call.
_ONE_PROGRAM = (
    *("clipped_relu", "crelu", "elu", "hard_sigmoid", "leaky_relu", "log_softmax", "prelu", "relu"),
    *("rrelu", "sigmoid", "softmax", "softplus", "swish", "tanh"),
    *("decorrelated_batch_normalization", "group_normalization", "layer_normalization"),
    *("batch_renormalization", "fixed_batch_normalization", "local_response_normalization"),
    *("linear", "loss_mean", "lstm_cell", "s_lstm_cell", "tree_lstm_cell", "unpooling_nd"),
    *("black_out", "connectionist_temporal_classification", "embedding", "negative_sampling"),
)


def declarations() -> list[Kernel]:
    """Returns the declarations of all kernels."""
    places = {**_KERNELS, **{name: f"one_program:{name}" for name in _ONE_PROGRAM}}
    return [
        Kernel(
            operation=operation,
            array_type="chainer_array_api.array:JaxArray",
            provider="jax",
            load=f"chainer_jax.kernels.{place}",
        )
        for operation, place in places.items()
    ]
