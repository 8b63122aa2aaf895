"""The operations: named array-level computations that kernels implement.

The docstring of an operation is its contract: it documents the methods of all implementations, with
shapes, dtypes and attributes. ``docs/operations.md`` is generated from these docstrings.
``operations.softmax.select(x, axis=1)`` returns the implementation that serves a call.
"""

from __future__ import annotations

from chainer.core.lazy import lazy_module
from chainer.core.registry import registries

MODULES: dict[str, tuple[str, ...]] = {
    "activations": (
        "clipped_relu",
        "crelu",
        "elu",
        "hard_sigmoid",
        "leaky_relu",
        "log_softmax",
        "prelu",
        "relu",
        "rrelu",
        "sigmoid",
        "softmax",
        "softplus",
        "swish",
        "tanh",
    ),
    "attentions": ("scaled_dot_product_attention",),
    "convolutions": ("convolution_nd", "im2col"),
    "cross_entropies": ("loss_mean", "softmax_cross_entropy"),
    "dropouts": ("dropout",),
    "embeddings": ("embedding",),
    "gelus": ("gelu",),
    "gradient_hooks": ("gradient_hooks",),
    "group_normalizations": ("decorrelated_batch_normalization", "group_normalization"),
    "gru_cells": ("gru_cell",),
    "indexing": ("scatter_add",),
    "joining": ("concat", "split_axis"),
    "linear_algebra": ("cholesky", "inverse"),
    "linears": ("linear",),
    "lstm_cells": ("lstm_cell", "s_lstm_cell", "tree_lstm_cell"),
    "loops": ("native_loops",),
    "normalizations": (
        "batch_normalization",
        "batch_renormalization",
        "fixed_batch_normalization",
        "layer_normalization",
    ),
    "optimizer_updates": (
        "ada_delta_update",
        "ada_grad_update",
        "adam_update",
        "corrected_momentum_sgd_update",
        "momentum_sgd_update",
        "msvag_update",
        "nesterov_ag_update",
        "rmsprop_graves_update",
        "rmsprop_update",
        "sgd_update",
        "smorms3_update",
    ),
    "poolings": (
        "average_pooling_nd",
        "max_pooling_nd",
        "unpooling_nd",
        "window_indexing",
    ),
    "reductions": ("axes_sum",),
    "response_normalizations": ("local_response_normalization",),
    "rms_normalizations": ("rms_normalization",),
    "rnns": ("n_step_rnn",),
    "roi_aligns": ("roi_average_align_2d", "roi_max_align_2d"),
    "roi_poolings": ("roi_average_pooling_2d", "roi_max_pooling_2d", "roi_pooling_2d"),
    "row_sums": ("selected_row_sums",),
    "shared_threads": ("shared_threads",),
    "sampled_losses": ("black_out", "negative_sampling"),
    "sequence_losses": ("connectionist_temporal_classification", "linear_chain_crf"),
    "sparse_products": ("coo_product",),
    "spatial_transformers": ("spatial_transformer_sampler",),
    "strided_views": ("as_strided",),
    "special": (
        "digamma",
        "erf",
        "erfc",
        "erfcinv",
        "erfcx",
        "erfinv",
        "lgamma",
        "log_ndtr",
        "ndtr",
        "ndtri",
        "polygamma",
        "zeta",
    ),
}

# An operation is imported when it is first used: import chainer must stay quick.
__getattr__, __dir__ = lazy_module(globals(), registry=registries.operations)
