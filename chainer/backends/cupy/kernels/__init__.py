"""The table of the kernels for CuPy arrays. Nothing here imports CuPy."""

from __future__ import annotations

from collections.abc import Iterator

from chainer.core.arrays.kernel import Kernel

_PACKAGE = "chainer.backends.cupy.kernels"
_CHECKS = f"{_PACKAGE}._checks"

#: Operation -> (module and class of the implementation, function of ``_checks`` that decides).
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
    "erf": ("special:ErfKernel", "floating"),
    "erfc": ("special:ErfcKernel", "floating"),
    "erfcx": ("special:ErfcxKernel", "anything"),
    "erfinv": ("special:ErfInvKernel", "anything"),
    "erfcinv": ("special:ErfcInvKernel", "anything"),
    "ndtr": ("special:NdtrKernel", "anything"),
    "log_ndtr": ("special:LogNdtrKernel", "anything"),
    "ndtri": ("special:NdtriKernel", "anything"),
    "lgamma": ("special:LGammaKernel", "anything"),
    "digamma": ("special:DiGammaKernel", "anything"),
    "polygamma": ("special:PolyGammaKernel", "anything"),
    "zeta": ("special:ZetaKernel", "anything"),
    "softmax": ("activations:SoftmaxKernel", "floating"),
    "log_softmax": ("activations:LogSoftmaxKernel", "floating"),
    "dropout": ("dropouts:DropoutKernel", "floating"),
    "softmax_cross_entropy": ("cross_entropies:SoftmaxCrossEntropyKernel", "labeled"),
    "connectionist_temporal_classification": (
        "sequence_losses:ConnectionistTemporalClassificationKernel",
        "labeled",
    ),
    "max_pooling_nd": ("poolings:MaxPoolingNDKernel", "windows"),
    "average_pooling_nd": ("poolings:AveragePoolingNDKernel", "windows"),
    "unpooling_nd": ("poolings:UnpoolingNDKernel", "windows"),
    "window_indexing": ("poolings:WindowIndexingKernel", "windows"),
    "im2col": ("convolutions:Im2ColKernel", "windows"),
    "convolution_nd": ("convolutions:ConvolutionNDKernel", "convolution"),
    "linear": ("linears:LinearKernel", "floating"),
    "axes_sum": ("reductions:AxesSumKernel", "floating"),
    "loss_mean": ("cross_entropies:LossMeanKernel", "labeled"),
    "cholesky": ("linear_algebra:CholeskyKernel", "floating"),
    "inverse": ("linear_algebra:InverseKernel", "floating"),
    "batch_normalization": ("normalizations:BatchNormalizationKernel", "floating"),
    "fixed_batch_normalization": ("normalizations:FixedBatchNormalizationKernel", "floating"),
    "group_normalization": ("group_normalizations:GroupNormalizationKernel", "floating"),
    "layer_normalization": ("normalizations:LayerNormalizationKernel", "floating"),
    "local_response_normalization": (
        "response_normalizations:ResponseNormalizationKernel",
        "floating",
    ),
    "as_strided": ("strided_views:AsStridedKernel", "anything"),
    "embedding": ("embeddings:EmbeddingKernel", "embedding"),
    "scatter_add": ("indexing:ScatterAddKernel", "anything"),
    "roi_pooling_2d": ("roi_poolings:ROIPooling2DKernel", "floating"),
    "roi_max_pooling_2d": ("roi_poolings:ROIMaxPooling2DKernel", "regions"),
    "roi_average_pooling_2d": ("roi_poolings:ROIAveragePooling2DKernel", "regions"),
    "roi_max_align_2d": ("roi_aligns:ROIMaxAlign2DKernel", "regions"),
    "roi_average_align_2d": ("roi_aligns:ROIAverageAlign2DKernel", "regions"),
    "spatial_transformer_sampler": (
        "spatial_transformers:SpatialTransformerSamplerKernel",
        "floating",
    ),
    "lstm_cell": ("lstm_cells:LSTMCellKernel", "floating"),
    "s_lstm_cell": ("lstm_cells:SLSTMCellKernel", "floating"),
    "tree_lstm_cell": ("lstm_cells:TreeLSTMCellKernel", "children"),
    "n_step_rnn": ("rnns:NStepRNNKernel", "floating"),
    "gradient_hooks": ("gradient_hooks:GradientHooksKernel", "floating"),
    "sgd_update": ("optimizer_updates:SGDKernel", "floating"),
    "momentum_sgd_update": ("optimizer_updates:MomentumSGDKernel", "floating"),
    "corrected_momentum_sgd_update": ("optimizer_updates:CorrectedMomentumSGDKernel", "floating"),
    "nesterov_ag_update": ("optimizer_updates:NesterovAGKernel", "floating"),
    "ada_grad_update": ("optimizer_updates:AdaGradKernel", "floating"),
    "ada_delta_update": ("optimizer_updates:AdaDeltaKernel", "floating"),
    "adam_update": ("optimizer_updates:AdamKernel", "floating"),
    "rmsprop_update": ("optimizer_updates:RMSpropKernel", "floating"),
    "rmsprop_graves_update": ("optimizer_updates:RMSpropGravesKernel", "floating"),
    "smorms3_update": ("optimizer_updates:SMORMS3Kernel", "floating"),
    "msvag_update": ("optimizer_updates:MSVAGKernel", "floating"),
}

#: Deterministic kernels, for calls with ``config.cudnn_deterministic``.
_DETERMINISTIC = {
    "embedding": ("embeddings:DeterministicEmbeddingKernel", "deterministic_embedding"),
    "scatter_add": ("indexing:DeterministicScatterAddKernel", "deterministic"),
    "roi_pooling_2d": ("roi_poolings:DeterministicROIPooling2DKernel", "deterministic"),
    "roi_max_pooling_2d": (
        "roi_poolings:DeterministicROIMaxPooling2DKernel",
        "deterministic_regions",
    ),
    "roi_average_pooling_2d": (
        "roi_poolings:DeterministicROIAveragePooling2DKernel",
        "deterministic_regions",
    ),
    "roi_max_align_2d": ("roi_aligns:DeterministicROIMaxAlign2DKernel", "deterministic_regions"),
    "roi_average_align_2d": (
        "roi_aligns:DeterministicROIAverageAlign2DKernel",
        "deterministic_regions",
    ),
    "spatial_transformer_sampler": (
        "spatial_transformers:DeterministicSpatialTransformerSamplerKernel",
        "deterministic",
    ),
}


def declarations() -> Iterator[Kernel]:
    """Yields the declaration of every kernel of this package."""
    for operation, (place, check) in _BY_OPERATION.items():
        yield Kernel(
            operation,
            "cupy:ndarray",
            "cupy",
            load=f"{_PACKAGE}.{place}",
            supports=f"{_CHECKS}:{check}",
        )
    for operation, (place, check) in _DETERMINISTIC.items():
        yield Kernel(
            operation,
            "cupy:ndarray",
            "cupy-deterministic",
            load=f"{_PACKAGE}.{place}",
            supports=f"{_CHECKS}:{check}",
            priority=1,
            unconditional=True,
        )
