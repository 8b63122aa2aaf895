# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.backends.operations import (
    activations as activations,
    attentions as attentions,
    convolutions as convolutions,
    cross_entropies as cross_entropies,
    dropouts as dropouts,
    embeddings as embeddings,
    gelus as gelus,
    group_normalizations as group_normalizations,
    gru_cells as gru_cells,
    indexing as indexing,
    joining as joining,
    linear_algebra as linear_algebra,
    linears as linears,
    loops as loops,
    lstm_cells as lstm_cells,
    normalizations as normalizations,
    optimizer_updates as optimizer_updates,
    poolings as poolings,
    reductions as reductions,
    response_normalizations as response_normalizations,
    rms_normalizations as rms_normalizations,
    rnns as rnns,
    roi_aligns as roi_aligns,
    roi_poolings as roi_poolings,
    row_sums as row_sums,
    sampled_losses as sampled_losses,
    sequence_losses as sequence_losses,
    sparse_products as sparse_products,
    spatial_transformers as spatial_transformers,
    special as special,
    strided_views as strided_views,
)
from chainer.backends.operations.activations import (
    clipped_relu as clipped_relu,
    crelu as crelu,
    elu as elu,
    hard_sigmoid as hard_sigmoid,
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    prelu as prelu,
    relu as relu,
    rrelu as rrelu,
    sigmoid as sigmoid,
    softmax as softmax,
    softplus as softplus,
    swish as swish,
    tanh as tanh,
)
from chainer.backends.operations.attentions import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from chainer.backends.operations.convolutions import (
    convolution_nd as convolution_nd,
    im2col as im2col,
)
from chainer.backends.operations.cross_entropies import (
    loss_mean as loss_mean,
    softmax_cross_entropy as softmax_cross_entropy,
)
from chainer.backends.operations.dropouts import dropout as dropout
from chainer.backends.operations.embeddings import embedding as embedding
from chainer.backends.operations.gelus import gelu as gelu
from chainer.backends.operations.gradient_hooks import gradient_hooks as gradient_hooks
from chainer.backends.operations.group_normalizations import (
    decorrelated_batch_normalization as decorrelated_batch_normalization,
    group_normalization as group_normalization,
)
from chainer.backends.operations.gru_cells import gru_cell as gru_cell
from chainer.backends.operations.indexing import scatter_add as scatter_add
from chainer.backends.operations.joining import concat as concat, split_axis as split_axis
from chainer.backends.operations.linear_algebra import cholesky as cholesky, inverse as inverse
from chainer.backends.operations.linears import linear as linear
from chainer.backends.operations.loops import native_loops as native_loops
from chainer.backends.operations.lstm_cells import (
    lstm_cell as lstm_cell,
    s_lstm_cell as s_lstm_cell,
    tree_lstm_cell as tree_lstm_cell,
)
from chainer.backends.operations.normalizations import (
    batch_normalization as batch_normalization,
    batch_renormalization as batch_renormalization,
    fixed_batch_normalization as fixed_batch_normalization,
    layer_normalization as layer_normalization,
)
from chainer.backends.operations.optimizer_updates import (
    ada_delta_update as ada_delta_update,
    ada_grad_update as ada_grad_update,
    adam_update as adam_update,
    corrected_momentum_sgd_update as corrected_momentum_sgd_update,
    momentum_sgd_update as momentum_sgd_update,
    msvag_update as msvag_update,
    nesterov_ag_update as nesterov_ag_update,
    rmsprop_graves_update as rmsprop_graves_update,
    rmsprop_update as rmsprop_update,
    sgd_update as sgd_update,
    smorms3_update as smorms3_update,
)
from chainer.backends.operations.poolings import (
    average_pooling_nd as average_pooling_nd,
    max_pooling_nd as max_pooling_nd,
    unpooling_nd as unpooling_nd,
    window_indexing as window_indexing,
)
from chainer.backends.operations.reductions import axes_sum as axes_sum
from chainer.backends.operations.response_normalizations import (
    local_response_normalization as local_response_normalization,
)
from chainer.backends.operations.rms_normalizations import rms_normalization as rms_normalization
from chainer.backends.operations.rnns import n_step_rnn as n_step_rnn
from chainer.backends.operations.roi_aligns import (
    roi_average_align_2d as roi_average_align_2d,
    roi_max_align_2d as roi_max_align_2d,
)
from chainer.backends.operations.roi_poolings import (
    roi_average_pooling_2d as roi_average_pooling_2d,
    roi_max_pooling_2d as roi_max_pooling_2d,
    roi_pooling_2d as roi_pooling_2d,
)
from chainer.backends.operations.row_sums import selected_row_sums as selected_row_sums
from chainer.backends.operations.sampled_losses import (
    black_out as black_out,
    negative_sampling as negative_sampling,
)
from chainer.backends.operations.sequence_losses import (
    connectionist_temporal_classification as connectionist_temporal_classification,
    linear_chain_crf as linear_chain_crf,
)
from chainer.backends.operations.shared_threads import shared_threads as shared_threads
from chainer.backends.operations.sparse_products import coo_product as coo_product
from chainer.backends.operations.spatial_transformers import (
    spatial_transformer_sampler as spatial_transformer_sampler,
)
from chainer.backends.operations.special import (
    digamma as digamma,
    erf as erf,
    erfc as erfc,
    erfcinv as erfcinv,
    erfcx as erfcx,
    erfinv as erfinv,
    lgamma as lgamma,
    log_ndtr as log_ndtr,
    ndtr as ndtr,
    ndtri as ndtri,
    polygamma as polygamma,
    zeta as zeta,
)
from chainer.backends.operations.strided_views import as_strided as as_strided

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
