# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.functions import (
    activation as activation,
    array as array,
    attention as attention,
    connection as connection,
    evaluation as evaluation,
    hooks as hooks,
    loss as loss,
    math as math,
    noise as noise,
    normalization as normalization,
    pooling as pooling,
    rnn as rnn,
    rules as rules,
    theano as theano,
    transforms as transforms,
    util as util,
)
from chainer.functions.activation.clipped_relu import (
    ClippedReLU as ClippedReLU,
    clipped_relu as clipped_relu,
    relu6 as relu6,
)
from chainer.functions.activation.crelu import CReLU as CReLU, crelu as crelu
from chainer.functions.activation.elu import ELU as ELU, elu as elu
from chainer.functions.activation.gated_linear_units import (
    geglu as geglu,
    glu as glu,
    reglu as reglu,
    swiglu as swiglu,
)
from chainer.functions.activation.gelu import gelu as gelu, quick_gelu as quick_gelu
from chainer.functions.activation.hard_sigmoid import (
    HardSigmoid as HardSigmoid,
    hard_sigmoid as hard_sigmoid,
)
from chainer.functions.activation.hard_swish import hard_swish as hard_swish
from chainer.functions.activation.leaky_relu import LeakyReLU as LeakyReLU, leaky_relu as leaky_relu
from chainer.functions.activation.log_softmax import (
    LogSoftmax as LogSoftmax,
    log_softmax as log_softmax,
)
from chainer.functions.activation.maxout import maxout as maxout
from chainer.functions.activation.mish import mish as mish
from chainer.functions.activation.prelu import PReLUFunction as PReLUFunction, prelu as prelu
from chainer.functions.activation.relu import ReLU as ReLU, relu as relu
from chainer.functions.activation.rrelu import RReLU as RReLU, rrelu as rrelu
from chainer.functions.activation.selu import selu as selu
from chainer.functions.activation.sigmoid import Sigmoid as Sigmoid, sigmoid as sigmoid
from chainer.functions.activation.silu import silu as silu
from chainer.functions.activation.softmax import Softmax as Softmax, softmax as softmax
from chainer.functions.activation.softplus import Softplus as Softplus, softplus as softplus
from chainer.functions.activation.swish import Swish as Swish, swish as swish
from chainer.functions.activation.tanh import Tanh as Tanh, tanh as tanh
from chainer.functions.array.as_strided import as_strided as as_strided
from chainer.functions.array.broadcast import (
    Broadcast as Broadcast,
    BroadcastTo as BroadcastTo,
    broadcast as broadcast,
    broadcast_to as broadcast_to,
)
from chainer.functions.array.cast import Cast as Cast, cast as cast
from chainer.functions.array.concat import Concat as Concat, concat as concat
from chainer.functions.array.copy import Copy as Copy, copy as copy
from chainer.functions.array.depth2space import (
    Depth2Space as Depth2Space,
    depth2space as depth2space,
)
from chainer.functions.array.diagonal import diagonal as diagonal
from chainer.functions.array.dstack import Dstack as Dstack, dstack as dstack
from chainer.functions.array.expand_dims import ExpandDims as ExpandDims, expand_dims as expand_dims
from chainer.functions.array.flatten import flatten as flatten
from chainer.functions.array.flip import (
    Flip as Flip,
    FlipLR as FlipLR,
    FlipUD as FlipUD,
    flip as flip,
    fliplr as fliplr,
    flipud as flipud,
)
from chainer.functions.array.get_item import GetItem as GetItem, get_item as get_item
from chainer.functions.array.hstack import Hstack as Hstack, hstack as hstack
from chainer.functions.array.im2col import Im2Col as Im2Col, im2col as im2col
from chainer.functions.array.moveaxis import moveaxis as moveaxis
from chainer.functions.array.pad import Pad as Pad, pad as pad
from chainer.functions.array.pad_sequence import (
    PadSequence as PadSequence,
    pad_sequence as pad_sequence,
)
from chainer.functions.array.permutate import Permutate as Permutate, permutate as permutate
from chainer.functions.array.repeat import Repeat as Repeat, repeat as repeat
from chainer.functions.array.reshape import Reshape as Reshape, reshape as reshape
from chainer.functions.array.resize_images import (
    ResizeImages as ResizeImages,
    resize_images as resize_images,
)
from chainer.functions.array.rollaxis import Rollaxis as Rollaxis, rollaxis as rollaxis
from chainer.functions.array.scatter_add import scatter_add as scatter_add
from chainer.functions.array.select_item import SelectItem as SelectItem, select_item as select_item
from chainer.functions.array.separate import separate as separate
from chainer.functions.array.space2depth import (
    Space2Depth as Space2Depth,
    space2depth as space2depth,
)
from chainer.functions.array.spatial_transformer_grid import (
    SpatialTransformerGrid as SpatialTransformerGrid,
    spatial_transformer_grid as spatial_transformer_grid,
)
from chainer.functions.array.spatial_transformer_sampler import (
    SpatialTransformerSampler as SpatialTransformerSampler,
    spatial_transformer_sampler as spatial_transformer_sampler,
)
from chainer.functions.array.split_axis import SplitAxis as SplitAxis, split_axis as split_axis
from chainer.functions.array.squeeze import Squeeze as Squeeze, squeeze as squeeze
from chainer.functions.array.stack import Stack as Stack, stack as stack
from chainer.functions.array.swapaxes import Swapaxes as Swapaxes, swapaxes as swapaxes
from chainer.functions.array.tile import Tile as Tile, tile as tile
from chainer.functions.array.transpose import Transpose as Transpose, transpose as transpose
from chainer.functions.array.transpose_sequence import (
    TransposeSequence as TransposeSequence,
    transpose_sequence as transpose_sequence,
)
from chainer.functions.array.vstack import Vstack as Vstack, vstack as vstack
from chainer.functions.array.where import Where as Where, where as where
from chainer.functions.attention.position_biases import (
    alibi_bias as alibi_bias,
    relative_position_bias as relative_position_bias,
)
from chainer.functions.attention.positional_encoding import (
    positional_encoding as positional_encoding,
)
from chainer.functions.attention.rotary_embedding import rotary_embedding as rotary_embedding
from chainer.functions.attention.rotary_tables import rotary_tables as rotary_tables
from chainer.functions.attention.scaled_dot_product_attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from chainer.functions.connection.bilinear import bilinear as bilinear
from chainer.functions.connection.convolution_2d import convolution_2d as convolution_2d
from chainer.functions.connection.convolution_nd import (
    convolution_1d as convolution_1d,
    convolution_3d as convolution_3d,
    convolution_nd as convolution_nd,
)
from chainer.functions.connection.deconvolution_2d import deconvolution_2d as deconvolution_2d
from chainer.functions.connection.deconvolution_nd import (
    deconvolution_1d as deconvolution_1d,
    deconvolution_3d as deconvolution_3d,
    deconvolution_nd as deconvolution_nd,
)
from chainer.functions.connection.deformable_convolution_2d_sampler import (
    deformable_convolution_2d_sampler as deformable_convolution_2d_sampler,
)
from chainer.functions.connection.depthwise_convolution_2d import (
    depthwise_convolution_2d as depthwise_convolution_2d,
)
from chainer.functions.connection.dilated_convolution_2d import (
    dilated_convolution_2d as dilated_convolution_2d,
)
from chainer.functions.connection.embed_id import embed_id as embed_id
from chainer.functions.connection.linear import linear as linear
from chainer.functions.connection.local_convolution_2d import (
    local_convolution_2d as local_convolution_2d,
)
from chainer.functions.connection.shift import shift as shift
from chainer.functions.evaluation.accuracy import Accuracy as Accuracy, accuracy as accuracy
from chainer.functions.evaluation.binary_accuracy import (
    BinaryAccuracy as BinaryAccuracy,
    binary_accuracy as binary_accuracy,
)
from chainer.functions.evaluation.classification_summary import (
    ClassificationSummary as ClassificationSummary,
    classification_summary as classification_summary,
    f1_score as f1_score,
    precision as precision,
    recall as recall,
)
from chainer.functions.evaluation.r2_score import R2_score as R2_score, r2_score as r2_score
from chainer.functions.loss.absolute_error import (
    AbsoluteError as AbsoluteError,
    absolute_error as absolute_error,
)
from chainer.functions.loss.black_out import black_out as black_out
from chainer.functions.loss.contrastive import (
    Contrastive as Contrastive,
    contrastive as contrastive,
)
from chainer.functions.loss.crf1d import argmax_crf1d as argmax_crf1d, crf1d as crf1d
from chainer.functions.loss.cross_covariance import (
    CrossCovariance as CrossCovariance,
    cross_covariance as cross_covariance,
)
from chainer.functions.loss.ctc import (
    ConnectionistTemporalClassification as ConnectionistTemporalClassification,
    connectionist_temporal_classification as connectionist_temporal_classification,
)
from chainer.functions.loss.decov import DeCov as DeCov, decov as decov
from chainer.functions.loss.dice_loss import dice_loss as dice_loss
from chainer.functions.loss.discriminative_loss import (
    discriminative_margin_based_clustering_loss as discriminative_margin_based_clustering_loss,
)
from chainer.functions.loss.focal_loss import (
    focal_loss as focal_loss,
    sigmoid_focal_loss as sigmoid_focal_loss,
)
from chainer.functions.loss.hinge import Hinge as Hinge, hinge as hinge
from chainer.functions.loss.huber_loss import HuberLoss as HuberLoss, huber_loss as huber_loss
from chainer.functions.loss.label_smoothed_cross_entropy import (
    label_smoothed_cross_entropy as label_smoothed_cross_entropy,
)
from chainer.functions.loss.mean_absolute_error import (
    MeanAbsoluteError as MeanAbsoluteError,
    mean_absolute_error as mean_absolute_error,
)
from chainer.functions.loss.mean_squared_error import (
    MeanSquaredError as MeanSquaredError,
    mean_squared_error as mean_squared_error,
)
from chainer.functions.loss.negative_sampling import (
    NegativeSamplingFunction as NegativeSamplingFunction,
    negative_sampling as negative_sampling,
)
from chainer.functions.loss.sigmoid_cross_entropy import (
    SigmoidCrossEntropy as SigmoidCrossEntropy,
    sigmoid_cross_entropy as sigmoid_cross_entropy,
)
from chainer.functions.loss.softmax_cross_entropy import (
    SoftmaxCrossEntropy as SoftmaxCrossEntropy,
    softmax_cross_entropy as softmax_cross_entropy,
)
from chainer.functions.loss.squared_error import (
    SquaredError as SquaredError,
    squared_error as squared_error,
)
from chainer.functions.loss.triplet import Triplet as Triplet, triplet as triplet
from chainer.functions.loss.vae import (
    bernoulli_nll as bernoulli_nll,
    gaussian_kl_divergence as gaussian_kl_divergence,
    gaussian_nll as gaussian_nll,
)
from chainer.functions.math.arctanh import arctanh as arctanh
from chainer.functions.math.average import average as average, mean as mean
from chainer.functions.math.basic_math import absolute as absolute, add as add
from chainer.functions.math.batch_l2_norm_squared import (
    BatchL2NormSquared as BatchL2NormSquared,
    batch_l2_norm_squared as batch_l2_norm_squared,
)
from chainer.functions.math.bias import bias as bias
from chainer.functions.math.ceil import ceil as ceil
from chainer.functions.math.cholesky import cholesky as cholesky
from chainer.functions.math.clip import Clip as Clip, clip as clip
from chainer.functions.math.cumprod import cumprod as cumprod
from chainer.functions.math.cumsum import Cumsum as Cumsum, cumsum as cumsum
from chainer.functions.math.det import BatchDet as BatchDet, batch_det as batch_det, det as det
from chainer.functions.math.digamma import digamma as digamma
from chainer.functions.math.einsum import einsum as einsum
from chainer.functions.math.erf import Erf as Erf, Erfc as Erfc, erf as erf, erfc as erfc
from chainer.functions.math.erfcinv import erfcinv as erfcinv
from chainer.functions.math.erfcx import erfcx as erfcx
from chainer.functions.math.erfinv import erfinv as erfinv
from chainer.functions.math.exponential import (
    Exp as Exp,
    Log as Log,
    Log10 as Log10,
    Log2 as Log2,
    exp as exp,
    log as log,
    log10 as log10,
    log2 as log2,
)
from chainer.functions.math.exponential_m1 import Expm1 as Expm1, expm1 as expm1
from chainer.functions.math.fft import FFT as FFT, fft as fft, ifft as ifft
from chainer.functions.math.fix import fix as fix
from chainer.functions.math.floor import floor as floor
from chainer.functions.math.fmod import Fmod as Fmod, fmod as fmod
from chainer.functions.math.hyperbolic import Cosh as Cosh, Sinh as Sinh, cosh as cosh, sinh as sinh
from chainer.functions.math.identity import Identity as Identity, identity as identity
from chainer.functions.math.inv import (
    BatchInv as BatchInv,
    Inv as Inv,
    batch_inv as batch_inv,
    inv as inv,
)
from chainer.functions.math.lgamma import lgamma as lgamma
from chainer.functions.math.linear_interpolate import (
    LinearInterpolate as LinearInterpolate,
    linear_interpolate as linear_interpolate,
)
from chainer.functions.math.log_ndtr import log_ndtr as log_ndtr
from chainer.functions.math.logarithm_1p import Log1p as Log1p, log1p as log1p
from chainer.functions.math.logsumexp import LogSumExp as LogSumExp, logsumexp as logsumexp
from chainer.functions.math.matmul import (
    MatMul as MatMul,
    batch_matmul as batch_matmul,
    matmul as matmul,
)
from chainer.functions.math.maximum import Maximum as Maximum, maximum as maximum
from chainer.functions.math.minimum import Minimum as Minimum, minimum as minimum
from chainer.functions.math.minmax import (
    ArgMax as ArgMax,
    ArgMin as ArgMin,
    Max as Max,
    Min as Min,
    argmax as argmax,
    argmin as argmin,
    max as max,
    min as min,
)
from chainer.functions.math.ndtr import ndtr as ndtr
from chainer.functions.math.ndtri import ndtri as ndtri
from chainer.functions.math.polygamma import polygamma as polygamma
from chainer.functions.math.prod import Prod as Prod, prod as prod
from chainer.functions.math.scale import scale as scale
from chainer.functions.math.sign import sign as sign
from chainer.functions.math.sparse_matmul import sparse_matmul as sparse_matmul
from chainer.functions.math.sqrt import Sqrt as Sqrt, rsqrt as rsqrt, sqrt as sqrt
from chainer.functions.math.square import Square as Square, square as square
from chainer.functions.math.squared_difference import (
    SquaredDifference as SquaredDifference,
    squared_difference as squared_difference,
)
from chainer.functions.math.sum import Sum as Sum, sum as sum, sum_to as sum_to
from chainer.functions.math.tensordot import tensordot as tensordot
from chainer.functions.math.trigonometric import (
    Arccos as Arccos,
    Arcsin as Arcsin,
    Arctan as Arctan,
    Arctan2 as Arctan2,
    Cos as Cos,
    Sin as Sin,
    Tan as Tan,
    arccos as arccos,
    arcsin as arcsin,
    arctan as arctan,
    arctan2 as arctan2,
    cos as cos,
    sin as sin,
    tan as tan,
)
from chainer.functions.math.zeta import zeta as zeta
from chainer.functions.noise.drop_path import drop_path as drop_path
from chainer.functions.noise.dropout import Dropout as Dropout, dropout as dropout
from chainer.functions.noise.gaussian import Gaussian as Gaussian, gaussian as gaussian
from chainer.functions.noise.gumbel_softmax import gumbel_softmax as gumbel_softmax
from chainer.functions.noise.simplified_dropconnect import (
    SimplifiedDropconnect as SimplifiedDropconnect,
    simplified_dropconnect as simplified_dropconnect,
)
from chainer.functions.noise.zoneout import Zoneout as Zoneout, zoneout as zoneout
from chainer.functions.normalization.batch_normalization import (
    batch_normalization as batch_normalization,
    fixed_batch_normalization as fixed_batch_normalization,
)
from chainer.functions.normalization.batch_renormalization import (
    batch_renormalization as batch_renormalization,
    fixed_batch_renormalization as fixed_batch_renormalization,
)
from chainer.functions.normalization.decorrelated_batch_normalization import (
    decorrelated_batch_normalization as decorrelated_batch_normalization,
    fixed_decorrelated_batch_normalization as fixed_decorrelated_batch_normalization,
)
from chainer.functions.normalization.group_normalization import (
    group_normalization as group_normalization,
)
from chainer.functions.normalization.instance_normalization import (
    instance_normalization as instance_normalization,
)
from chainer.functions.normalization.l2_normalization import (
    NormalizeL2 as NormalizeL2,
    normalize as normalize,
)
from chainer.functions.normalization.layer_normalization import (
    LayerNormalization as LayerNormalization,
    layer_normalization as layer_normalization,
)
from chainer.functions.normalization.local_response_normalization import (
    LocalResponseNormalization as LocalResponseNormalization,
    local_response_normalization as local_response_normalization,
)
from chainer.functions.normalization.rms_normalization import rms_normalization as rms_normalization
from chainer.functions.pooling.adaptive_average_pooling_2d import (
    adaptive_average_pooling_2d as adaptive_average_pooling_2d,
)
from chainer.functions.pooling.average_pooling_2d import (
    AveragePooling2D as AveragePooling2D,
    average_pooling_2d as average_pooling_2d,
)
from chainer.functions.pooling.average_pooling_nd import (
    AveragePoolingND as AveragePoolingND,
    average_pooling_1d as average_pooling_1d,
    average_pooling_3d as average_pooling_3d,
    average_pooling_nd as average_pooling_nd,
)
from chainer.functions.pooling.max_pooling_2d import (
    MaxPooling2D as MaxPooling2D,
    max_pooling_2d as max_pooling_2d,
)
from chainer.functions.pooling.max_pooling_nd import (
    MaxPoolingND as MaxPoolingND,
    max_pooling_1d as max_pooling_1d,
    max_pooling_3d as max_pooling_3d,
    max_pooling_nd as max_pooling_nd,
)
from chainer.functions.pooling.roi_average_align_2d import (
    roi_average_align_2d as roi_average_align_2d,
)
from chainer.functions.pooling.roi_average_pooling_2d import (
    roi_average_pooling_2d as roi_average_pooling_2d,
)
from chainer.functions.pooling.roi_max_align_2d import roi_max_align_2d as roi_max_align_2d
from chainer.functions.pooling.roi_max_pooling_2d import roi_max_pooling_2d as roi_max_pooling_2d
from chainer.functions.pooling.roi_pooling_2d import (
    ROIPooling2D as ROIPooling2D,
    roi_pooling_2d as roi_pooling_2d,
)
from chainer.functions.pooling.spatial_pyramid_pooling_2d import (
    spatial_pyramid_pooling_2d as spatial_pyramid_pooling_2d,
)
from chainer.functions.pooling.unpooling_2d import (
    Unpooling2D as Unpooling2D,
    unpooling_2d as unpooling_2d,
)
from chainer.functions.pooling.unpooling_nd import (
    UnpoolingND as UnpoolingND,
    unpooling_1d as unpooling_1d,
    unpooling_3d as unpooling_3d,
    unpooling_nd as unpooling_nd,
)
from chainer.functions.pooling.upsampling_2d import (
    Upsampling2D as Upsampling2D,
    upsampling_2d as upsampling_2d,
)
from chainer.functions.rnn.lstm import LSTM as LSTM, lstm as lstm
from chainer.functions.rnn.n_step_gru import (
    NStepBiGRU as NStepBiGRU,
    NStepGRU as NStepGRU,
    n_step_bigru as n_step_bigru,
    n_step_gru as n_step_gru,
)
from chainer.functions.rnn.n_step_lstm import (
    NStepBiLSTM as NStepBiLSTM,
    NStepLSTM as NStepLSTM,
    n_step_bilstm as n_step_bilstm,
    n_step_lstm as n_step_lstm,
)
from chainer.functions.rnn.n_step_rnn import (
    NStepBiRNNReLU as NStepBiRNNReLU,
    NStepBiRNNTanh as NStepBiRNNTanh,
    NStepRNNReLU as NStepRNNReLU,
    NStepRNNTanh as NStepRNNTanh,
    n_step_birnn as n_step_birnn,
    n_step_rnn as n_step_rnn,
)
from chainer.functions.rnn.slstm import SLSTM as SLSTM, slstm as slstm
from chainer.functions.rnn.tree_lstm import TreeLSTM as TreeLSTM, tree_lstm as tree_lstm
from chainer.functions.util.forget import Forget as Forget, forget as forget

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
