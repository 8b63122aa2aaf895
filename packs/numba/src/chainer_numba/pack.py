"""The pack of the distribution: a table of kernels. Nothing here imports Numba."""

from __future__ import annotations

from typing import Any

chainer_api = 1

_UPDATES = {
    "sgd_update": "SGDKernel",
    "momentum_sgd_update": "MomentumSGDKernel",
    "corrected_momentum_sgd_update": "CorrectedMomentumSGDKernel",
    "nesterov_ag_update": "NesterovAGKernel",
    "ada_grad_update": "AdaGradKernel",
    "ada_delta_update": "AdaDeltaKernel",
    "adam_update": "AdamKernel",
    "rmsprop_update": "RMSpropKernel",
    "rmsprop_graves_update": "RMSpropGravesKernel",
    "smorms3_update": "SMORMS3Kernel",
    "msvag_update": "MSVAGKernel",
}

#: Operation -> (module and class of the kernel, function of ``supports``).
KERNELS = {
    "relu": ("activations:ReLUKernel", "cheap"),
    "leaky_relu": ("activations:LeakyReLUKernel", "selection"),
    "sigmoid": ("activations:SigmoidKernel", "exponential"),
    "elu": ("activations:ELUKernel", "exponential"),
    "gelu": ("activations:GELUKernel", "exponential"),
    "softplus": ("activations:SoftplusKernel", "exponential"),
    "hard_sigmoid": ("activations:HardSigmoidKernel", "cheap"),
    "clipped_relu": ("activations:ClippedReLUKernel", "cheap"),
    "rrelu": ("activations:RReLUKernel", "selection"),
    "crelu": ("activations:CReLUKernel", "cheap"),
    "softmax": ("softmaxes:SoftmaxKernel", "rows"),
    "log_softmax": ("softmaxes:LogSoftmaxKernel", "rows"),
    "softmax_cross_entropy": ("cross_entropies:SoftmaxCrossEntropyKernel", "cross_entropy"),
    "dropout": ("dropouts:DropoutKernel", "dropout"),
    "batch_normalization": (
        "batch_normalizations:BatchNormalizationKernel",
        "batch_normalization",
    ),
    "fixed_batch_normalization": (
        "batch_normalizations:FixedBatchNormalizationKernel",
        "batch_normalization",
    ),
    "batch_renormalization": (
        "batch_renormalizations:BatchRenormalizationKernel",
        "batch_normalization",
    ),
    "layer_normalization": ("row_normalizations:LayerNormalizationKernel", "vector_normalization"),
    "rms_normalization": ("row_normalizations:RMSNormalizationKernel", "vector_normalization"),
    "group_normalization": ("row_normalizations:GroupNormalizationKernel", "row_normalization"),
    "local_response_normalization": (
        "response_normalizations:ResponseNormalizationKernel",
        "rows",
    ),
    "lstm_cell": ("lstm_cells:LSTMCellKernel", "lstm_cell"),
    "gru_cell": ("gru_cells:GRUCellKernel", "gru_cell"),
    "s_lstm_cell": ("lstm_cells:SLSTMCellKernel", "lstm_cell"),
    "tree_lstm_cell": ("tree_lstm_cells:TreeLSTMCellKernel", "tree_lstm_cell"),
    "n_step_rnn": ("lstm_sequences:NStepRNNKernel", "n_step_rnn"),
    "embedding": ("embeddings:EmbeddingKernel", "embedding"),
    "linear": ("linears:LinearKernel", "linear"),
    # Of chainer-models. Where that is not installed, no call asks for it.
    "packed_product": ("packed_products:PackedProductKernel", "packed_product"),
    "scaled_dot_product_attention": ("attentions:AttentionKernel", "one_query"),
    "scatter_add": ("embeddings:ScatterAddKernel", "scatter_add"),
    "selected_row_sums": ("embeddings:SelectedRowSumsKernel", "only_float32"),
    "max_pooling_nd": ("poolings:MaxPoolingNDKernel", "max_pooling"),
    "average_pooling_nd": ("poolings:AveragePoolingNDKernel", "average_pooling"),
    "unpooling_nd": ("poolings:UnpoolingNDKernel", "unpooling"),
    "prelu": ("parametric_activations:PReLUKernel", "parametric"),
    "swish": ("parametric_activations:SwishKernel", "swish"),
    "connectionist_temporal_classification": (
        "sequence_losses:ConnectionistTemporalClassificationKernel",
        "sequence_loss",
    ),
    "roi_pooling_2d": ("roi_poolings:ROIPooling2DKernel", "regions"),
    "roi_max_pooling_2d": ("roi_poolings:ROIMaxPooling2DKernel", "regions"),
    "roi_average_pooling_2d": ("roi_poolings:ROIAveragePooling2DKernel", "regions"),
    "roi_average_align_2d": ("roi_aligns:ROIAverageAlign2DKernel", "regions"),
    "roi_max_align_2d": ("roi_aligns:ROIMaxAlign2DKernel", "regions"),
    "gradient_hooks": ("gradient_hooks:GradientHooksKernel", "update"),
    "shared_threads": ("openmp:SharedThreadsKernel", "any_array"),
    "native_loops": ("loops:NativeLoopsKernel", "any_array"),
    "axes_sum": ("reductions:AxesSumKernel", "reduction"),
    **{name: (f"optimizer_updates:{cls}", "update") for name, cls in _UPDATES.items()},
}


def missing() -> str | None:
    """Returns what is missing on this machine, or None."""
    from importlib.util import find_spec

    if find_spec("numba"):
        return None
    from chainer.utils import install_command

    return f"Numba is not installed: {install_command('numba')}"


def chainer_kernels(registry: Any) -> None:
    """Registers the kernels. Numba is imported when the first of them is chosen.

    Args:
        registry: Registry of kernels.
    """
    from chainer.kernel import Kernel, register_kernel

    for operation, (place, check) in KERNELS.items():
        kernel = Kernel(
            operation,
            "numpy:ndarray",
            "numba",
            load=f"chainer_numba.{place}",
            supports=f"chainer_numba.supports:{check}",
            unavailable="chainer_numba.pack:missing",
            speedup=f"chainer_numba.speedups:{operation}",
            # The arrays of the tests are smaller than those for which the kernels are faster.
            test_environment={"CHAINER_NUMBA_ANY_SIZE": "1"},
        )
        register_kernel(kernel, registry)
