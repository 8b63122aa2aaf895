"""Kernels for CuPy arrays: the table of them. Nothing here imports CuPy."""

from __future__ import annotations

from collections.abc import Iterator

from chainer.core.arrays.kernel import Kernel

_ROOM = "chainer.backends.cupy.kernels"
_CHECKS = f"{_ROOM}.checks"

#: Operation -> (module and class of the implementation, function of ``checks`` that decides).
_BY_OPERATION = {
    "relu": ("activations:ReLUKernel", "floating"),
    "leaky_relu": ("activations:LeakyReLUKernel", "floating"),
    "sigmoid": ("activations:SigmoidKernel", "floating"),
    "elu": ("activations:ELUKernel", "floating"),
    "tanh": ("activations:TanhKernel", "floating"),
    "softplus": ("activations:SoftplusKernel", "floating"),
    "swish": ("activations:SwishKernel", "floating"),
    "clipped_relu": ("activations:ClippedReLUKernel", "floating"),
    "hard_sigmoid": ("activations:HardSigmoidKernel", "floating"),
    "prelu": ("activations:PReLUKernel", "floating"),
    "rrelu": ("activations:RReLUKernel", "floating"),
    "crelu": ("activations:CReLUKernel", "floating"),
    "erf": ("activations:ErfKernel", "floating"),
    "erfc": ("activations:ErfcKernel", "floating"),
    "softmax": ("activations:SoftmaxKernel", "floating"),
    "log_softmax": ("activations:LogSoftmaxKernel", "floating"),
    "dropout": ("activations:DropoutKernel", "floating"),
    "softmax_cross_entropy": ("losses:SoftmaxCrossEntropyKernel", "labelled"),
    "connectionist_temporal_classification": (
        "losses:ConnectionistTemporalClassificationKernel",
        "labelled",
    ),
    "max_pooling_nd": ("windows:MaxPoolingNDKernel", "windows"),
    "average_pooling_nd": ("windows:AveragePoolingNDKernel", "windows"),
    "unpooling_nd": ("windows:UnpoolingNDKernel", "windows"),
    "window_indexing": ("windows:WindowIndexingKernel", "windows"),
    "im2col": ("windows:Im2ColKernel", "windows"),
    "convolution_nd": ("products:ConvolutionNDKernel", "convolution"),
    "linear": ("products:LinearKernel", "floating"),
    "axes_sum": ("reductions:AxesSumKernel", "floating"),
    "loss_mean": ("losses:LossMeanKernel", "labelled"),
    "inverse": ("linear_algebra:InverseKernel", "floating"),
    "batch_normalization": ("normalizations:BatchNormalizationKernel", "floating"),
    "fixed_batch_normalization": ("normalizations:FixedBatchNormalizationKernel", "floating"),
    "layer_normalization": ("normalizations:LayerNormalizationKernel", "floating"),
    "local_response_normalization": ("normalizations:ResponseNormalizationKernel", "floating"),
    "embedding": ("sampling:EmbeddingKernel", "embedding"),
    "scatter_add": ("sampling:ScatterAddKernel", "anything"),
    "roi_pooling_2d": ("sampling:ROIPooling2DKernel", "floating"),
    "spatial_transformer_sampler": ("sampling:SpatialTransformerSamplerKernel", "floating"),
    "lstm_cell": ("rnns:LSTMCellKernel", "floating"),
    "s_lstm_cell": ("rnns:SLSTMCellKernel", "floating"),
    "tree_lstm_cell": ("rnns:TreeLSTMCellKernel", "children"),
    "n_step_rnn": ("rnns:NStepRNNKernel", "floating"),
    "gradient_changes": ("gradients:GradientChangesKernel", "floating"),
    "sgd_update": ("optimizers:SGDKernel", "floating"),
    "momentum_sgd_update": ("optimizers:MomentumSGDKernel", "floating"),
    "corrected_momentum_sgd_update": ("optimizers:CorrectedMomentumSGDKernel", "floating"),
    "nesterov_ag_update": ("optimizers:NesterovAGKernel", "floating"),
    "ada_grad_update": ("optimizers:AdaGradKernel", "floating"),
    "ada_delta_update": ("optimizers:AdaDeltaKernel", "floating"),
    "adam_update": ("optimizers:AdamKernel", "floating"),
    "rmsprop_update": ("optimizers:RMSpropKernel", "floating"),
    "rmsprop_graves_update": ("optimizers:RMSpropGravesKernel", "floating"),
    "smorms3_update": ("optimizers:SMORMS3Kernel", "floating"),
    "msvag_update": ("optimizers:MSVAGKernel", "floating"),
}

#: The same for calls with ``config.cudnn_deterministic``, where the kernels above are not.
_DETERMINISTIC = {
    "embedding": ("sampling:DeterministicEmbeddingKernel", "deterministic_embedding"),
    "scatter_add": ("sampling:DeterministicScatterAddKernel", "deterministic"),
    "roi_pooling_2d": ("sampling:DeterministicROIPooling2DKernel", "deterministic"),
    "spatial_transformer_sampler": (
        "sampling:DeterministicSpatialTransformerSamplerKernel",
        "deterministic",
    ),
}


def declarations() -> Iterator[Kernel]:
    """Yields the declaration of every kernel of this room."""
    for operation, (place, check) in _BY_OPERATION.items():
        yield Kernel(
            operation,
            "cupy:ndarray",
            "cupy",
            load=f"{_ROOM}.{place}",
            supports=f"{_CHECKS}:{check}",
        )
    for operation, (place, check) in _DETERMINISTIC.items():
        yield Kernel(
            operation,
            "cupy:ndarray",
            "cupy-deterministic",
            load=f"{_ROOM}.{place}",
            supports=f"{_CHECKS}:{check}",
            priority=1,
            unconditional=True,
        )
