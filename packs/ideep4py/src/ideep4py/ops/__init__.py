"""Operations of deep-learning frameworks on mdarrays and NumPy arrays.

Every function takes float32 arrays (mdarray, or NumPy: copied when not C-contiguous), returns new
mdarrays in the layout that oneDNN chose, and raises TypeError or ValueError naming the argument
that does not fit. :func:`why_not` tells beforehand, from types, shapes and dtypes alone, whether
oneDNN can take some arrays at all. Compiled code is kept per signature (shapes, layouts,
parameters): a repeated call costs a look-up.
"""

from ideep4py._core.errors import OneDNNError, UnsupportedError
from ideep4py._core.layout import Layout
from ideep4py.ops._inputs import has_bfloat16, supports, why_not
from ideep4py.ops.activation import (
    eltwise,
    eltwise_backward,
    eltwise_inplace,
    leaky_relu_backward,
    relu,
    relu_backward,
    sigmoid,
    sigmoid_backward,
    tanh,
    tanh_backward,
)
from ideep4py.ops.arithmetic import add, binary, copy_to, mul
from ideep4py.ops.attention import attention
from ideep4py.ops.batch_normalization import (
    BatchNormalized,
    batch_normalization,
    batch_normalization_backward,
    fixed_batch_normalization,
)
from ideep4py.ops.convolution import (
    convolution,
    convolution_backward_data,
    convolution_backward_weights,
    prepare_weights,
)
from ideep4py.ops.deconvolution import deconvolution
from ideep4py.ops.joining import concat, split
from ideep4py.ops.layer_normalization import (
    LayerNormalized,
    layer_normalization,
    layer_normalization_backward,
)
from ideep4py.ops.layouts import astype, dense, from_numpy, reorder
from ideep4py.ops.linear import linear, linear_backward_data, linear_backward_weights, matmul
from ideep4py.ops.local_response_normalization import (
    local_response_normalization,
    local_response_normalization_backward,
)
from ideep4py.ops.optimizers import adam_update, momentum_sgd_update, sgd_update, zeros_like
from ideep4py.ops.pooling import pooling, pooling_backward
from ideep4py.ops.products import products
from ideep4py.ops.recurrent import (
    Recurrence,
    RecurrentGradients,
    gru,
    lstm,
    recurrent_backward,
)
from ideep4py.ops.softmax import log_softmax, log_softmax_backward, softmax, softmax_backward

__all__ = [
    "BatchNormalized",
    "LayerNormalized",
    "Layout",
    "OneDNNError",
    "Recurrence",
    "RecurrentGradients",
    "UnsupportedError",
    "adam_update",
    "add",
    "astype",
    "attention",
    "batch_normalization",
    "batch_normalization_backward",
    "binary",
    "concat",
    "convolution",
    "convolution_backward_data",
    "convolution_backward_weights",
    "copy_to",
    "deconvolution",
    "dense",
    "eltwise",
    "eltwise_backward",
    "eltwise_inplace",
    "fixed_batch_normalization",
    "from_numpy",
    "gru",
    "has_bfloat16",
    "layer_normalization",
    "layer_normalization_backward",
    "leaky_relu_backward",
    "linear",
    "linear_backward_data",
    "linear_backward_weights",
    "local_response_normalization",
    "local_response_normalization_backward",
    "log_softmax",
    "log_softmax_backward",
    "lstm",
    "matmul",
    "momentum_sgd_update",
    "mul",
    "pooling",
    "pooling_backward",
    "prepare_weights",
    "products",
    "recurrent_backward",
    "relu",
    "relu_backward",
    "reorder",
    "sgd_update",
    "sigmoid",
    "sigmoid_backward",
    "softmax",
    "softmax_backward",
    "split",
    "supports",
    "tanh",
    "tanh_backward",
    "why_not",
    "zeros_like",
]
