"""Modules, and names in them, that programs written for releases 4 to 7 import."""

import importlib

import pytest

MODULES = {
    "activation.log_softmax": "log_softmax LogSoftmax _log_softmax logsumexp",
    "activation.lstm": "lstm LSTM",
    "activation.slstm": "slstm SLSTM",
    "activation.tree_lstm": "tree_lstm TreeLSTM",
    "array.as_strided": "as_strided AsStrided AsStridedGrad TensorGeometry _stride_array",
    "array.flip": "flip Flip _flip",
    "array.fliplr": "fliplr FlipLR",
    "array.flipud": "flipud FlipUD",
    "array.moveaxis": "moveaxis Moveaxis",
    "connection.convolution_nd": "convolution_nd convolution_1d convolution_3d ConvolutionND",
    "connection.deconvolution_nd": (
        "deconvolution_nd deconvolution_1d deconvolution_3d DeconvolutionND"
    ),
    "connection.deformable_convolution_2d_sampler": "deformable_convolution_2d_sampler",
    "connection.n_step_gru": "n_step_gru n_step_bigru",
    "connection.n_step_lstm": "n_step_lstm n_step_bilstm _lstm",
    "connection.n_step_rnn": "n_step_rnn n_step_birnn",
    "evaluation.classification_summary": "classification_summary fbeta_score f1_score",
    "loss.discriminative_loss": (
        "discriminative_margin_based_clustering_loss DiscriminativeMarginBasedClusteringLoss"
    ),
    "loss.squared_error": "squared_error squared_difference SquaredError",
    "math.average": "average Mean",
    "math.basic_math": (
        "add absolute neg sub rsub mul div rdiv floordiv rfloordiv pow rpow matmul rmatmul "
        "install_variable_arithmetics _convert_value_to_string Add AddConstant"
    ),
    "math.cholesky": "cholesky Cholesky",
    "math.digamma": "digamma DiGamma",
    "math.einsum": "einsum EinSum DiagEinSum",
    "math.erfc": "erfc Erfc",
    "math.erfcinv": "erfcinv ErfcInv",
    "math.erfcx": "erfcx Erfcx",
    "math.erfinv": "erfinv ErfInv",
    "math.lgamma": "lgamma LGamma",
    "math.log_ndtr": "log_ndtr LogNdtr",
    "math.ndtr": "ndtr Ndtr",
    "math.ndtri": "ndtri Ndtri",
    "math.polygamma": "polygamma PolyGamma",
    "math.sparse_matmul": "sparse_matmul CooMatMul CooMatMulGradSP",
    "math.squared_difference": "squared_difference SquaredDifference",
    "math.zeta": "zeta Zeta",
    "normalization.batch_normalization": (
        "batch_normalization fixed_batch_normalization BatchNormalization FixedBatchNormalization"
    ),
    "normalization.decorrelated_batch_normalization": (
        "decorrelated_batch_normalization fixed_decorrelated_batch_normalization "
        "DecorrelatedBatchNormalization FixedDecorrelatedBatchNormalization"
    ),
    "normalization.group_normalization": "group_normalization GroupNormalization _MulInvStd",
    "pooling.average_pooling_nd": "average_pooling_nd average_pooling_1d average_pooling_3d",
    "pooling.max_pooling_nd": "max_pooling_nd max_pooling_1d max_pooling_2d max_pooling_3d",
    "pooling.pooling_2d": "Pooling2D",
    "pooling.pooling_nd": "_PoolingND",
    "pooling.roi_average_align_2d": "roi_average_align_2d ROIAverageAlign2D",
    "pooling.roi_average_pooling_2d": "roi_average_pooling_2d ROIAveragePooling2D",
    "pooling.roi_max_align_2d": "roi_max_align_2d ROIMaxAlign2D",
    "pooling.roi_max_pooling_2d": "roi_max_pooling_2d ROIMaxPooling2D",
    "pooling.unpooling_nd": "unpooling_nd unpooling_1d unpooling_3d UnpoolingND",
    "rnn.lstm": "lstm LSTM LSTMGrad",
    "rnn.n_step_gru": "n_step_gru n_step_bigru n_step_gru_base NStepGRU NStepBiGRU _gru",
    "rnn.n_step_lstm": "n_step_lstm n_step_bilstm n_step_lstm_base NStepLSTM NStepBiLSTM _lstm",
    "rnn.n_step_rnn": (
        "n_step_rnn n_step_birnn n_step_rnn_base n_step_rnn_impl NStepRNNTanh NStepRNNReLU "
        "NStepBiRNNTanh NStepBiRNNReLU BaseNStepRNN"
    ),
    "rnn.slstm": "slstm SLSTM SLSTMGrad",
    "rnn.tree_lstm": "tree_lstm TreeLSTM",
    "theano.theano_function": "theano_function TheanoFunction",
}


@pytest.mark.parametrize("module", MODULES)
def test_module_has_its_names(module):
    imported = importlib.import_module(f"chainer.functions.{module}")
    missing = [name for name in MODULES[module].split() if not hasattr(imported, name)]
    assert not missing
