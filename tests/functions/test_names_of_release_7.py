"""Modules, and names in them, that programs written for releases 4 to 7 import."""

import importlib

import numpy as np
import pytest

import chainer
import chainer.functions as F

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


def test_second_names_are_the_same_objects():
    assert chainer.basic_math is F.math.basic_math
    assert chainer.array is F.array
    assert F.rnn.n_step_gru is F.connection.n_step_gru
    assert F.activation.lstm is F.rnn.lstm
    assert F.loss.squared_error.squared_difference is F.squared_difference
    assert F.pooling.max_pooling_nd.max_pooling_2d is F.max_pooling_2d
    assert F.array.fliplr.fliplr is F.fliplr
    assert F.math.erfc.erfc is F.erfc
    assert F.mean is F.average
    assert issubclass(F.MaxPooling2D, F.pooling.pooling_2d.Pooling2D)
    assert issubclass(F.UnpoolingND, F.pooling.pooling_nd._PoolingND)


def arrays(*shapes):
    random = np.random.RandomState(0)
    return [chainer.Variable(random.normal(size=shape).astype("f")) for shape in shapes]


def attributes(node, names):
    return [getattr(node, name) for name in names.split()]


def test_attributes_of_nodes():
    x, W = arrays((2, 4, 5, 6), (2, 4, 2, 2))
    node = F.convolution_2d(x, W).creator
    names = "sy sx ph pw dy dx groups cover_all cudnn_fast"
    assert attributes(node, names) == [1, 1, 0, 0, 1, 1, 1, False, False]
    node = F.deconvolution_2d(x, arrays((4, 2, 2, 2))[0], stride=2).creator
    assert attributes(node, "sy sx outh outw groups") == [2, 2, 10, 12, 1]
    node = F.deconvolution_nd(x, arrays((4, 2, 2, 2))[0]).creator
    assert attributes(node, "ndim outs cover_all groups") == [2, (6, 7), False, 1]
    node = F.im2col(x, (2, 3), pad=1).creator
    assert attributes(node, "kh kw sy sx ph pw dy dx cover_all") == [2, 3, 1, 1, 1, 1, 1, 1, False]
    node = F.shift(arrays((1, 9, 3, 3))[0]).creator
    assert attributes(node, "kh kw dy dx") == [3, 3, 1, 1]
    y, indices = F.max_pooling_2d(x, 2, return_indices=True)
    node = y.creator
    assert attributes(node, "kh kw sy sx ph pw cover_all return_indices") == [2] * 4 + [
        0,
        0,
        True,
        True,
    ]
    assert node.indexes is indices
    assert not node.is_cudnn_used
    node = F.unpooling_nd(x, 2).creator
    assert attributes(node, "ndim ksize outs return_indices") == [2, (2, 2), (9, 11), False]
    assert F.average_pooling_nd(x, 2).creator.width is None
    node = F.resize_images(x, (3, 2)).creator
    assert attributes(node, "out_H out_W mode align_corners") == [3, 2, "bilinear", True]
    node = F.moveaxis(x, 0, -1).creator
    assert attributes(node, "source destination label") == [(0,), (-1,), "Moveaxis"]
    node = F.split_axis(x, [1, 2], 1)[0].creator
    assert attributes(node, "axis indices sections indices_or_sections") == [
        1,
        [1, 2],
        None,
        [1, 2],
    ]
    node = F.pad(x, [(0, 0), (1, 2), (0, 0), (3, 0)], "constant").creator
    assert node.pad_bw.tolist() == [[0, 0], [1, 2], [0, 0], [3, 0]]
    node = F.mean(x, axis=1, keepdims=True).creator
    assert attributes(node, "label axis keepdims multiplier") == ["Mean", (1,), True, 0.25]
    node = F.where(x.array > 0, x, x).creator
    assert node.condition.dtype == bool
    assert len(node.inputs) == 2
    node = F.permutate(x, np.array([1, 0], "i")).creator
    assert node.indices.tolist() == [1, 0]
    assert len(node.inputs) == 1
    node = F.matmul(*arrays((2, 3), (3, 4))).creator
    assert attributes(node, "transa transb transc dtype") == [False, False, False, None]
    node = F.tensordot(*arrays((2, 3, 4), (4, 3, 2)), axes=((1, 2), (1, 0))).creator
    assert attributes(node, "a_axes b_axes c_axes") == [
        ((0,), (1, 2)),
        ((1, 0), (2,)),
        ((0,), (1,)),
    ]


def test_attributes_of_normalizations_and_noise():
    x, gamma, beta = arrays((2, 4, 5), (4,), (4,))
    node = F.batch_normalization(x, gamma, beta).creator
    assert attributes(node, "axis key_axis") == [(0, 2), (1,)]
    assert node.expander == (None, slice(None), None)
    np.testing.assert_allclose(node.var, x.array.var(axis=(0, 2)), rtol=1e-4)
    np.testing.assert_allclose(node.inv_std, (node.var + node.eps) ** -0.5, rtol=1e-4)
    mean, var = np.zeros(4, "f"), np.full(4, 3, "f")
    node = F.fixed_batch_normalization(x, gamma, beta, mean, var, eps=1.0).creator
    assert attributes(node, "axis key_axis") == [(0, 2), (1,)]
    np.testing.assert_allclose(node.inv_var, [0.25] * 4)
    np.testing.assert_allclose(node.inv_std, [0.5] * 4)
    node = F.gaussian(x, x).creator
    np.testing.assert_allclose(node.noise, np.exp(x.array / 2) * node.eps, rtol=1e-5)
    node = F.zoneout(x, x).creator
    np.testing.assert_array_equal(node.flag_h, ~node.flag_x)
    assert F.dropout(x).creator.return_mask is False


def test_constructors_of_both_releases():
    a, b, c = arrays((3, 2), (3, 2), (2, 3))
    condition = a.array > 0
    expected = np.where(condition, a.array, b.array)
    where = F.Where
    np.testing.assert_array_equal(where(condition).apply((a, b))[0].array, expected)
    np.testing.assert_array_equal(where().apply((condition, a, b))[0].array, expected)
    order = np.array([2, 0, 1], "i")
    permutate = F.Permutate
    for y in (
        permutate(order, 0, False).apply((a,)),
        permutate(0, False).apply((a, order)),
        permutate(axis=0, inv=False).apply((a, order)),
    ):
        np.testing.assert_array_equal(y[0].array, a.array[order])
    for node in (F.Copy(-1), F.Copy(-1, -1), F.Copy(in_device=-1, out_device="@numpy")):
        assert node.apply((a,))[0].array is a.array
    assert F.copy(a, chainer.backends.cuda.DummyDevice).array is a.array
    product = (a.array @ c.array).T
    y = F.MatMul(False, False, True, "d").apply((a, c))[0]
    assert y.dtype == np.float64
    np.testing.assert_allclose(y.array, product, rtol=1e-5)
    tensordot = F.math.tensordot.TensorDot
    y = tensordot(1, c_axes=((1,), (0,))).apply((a, c))[0]
    np.testing.assert_allclose(y.array, product, rtol=1e-5)
    y = tensordot(a_axes=((0,), (1,)), b_axes=((0,), (1,)), dtype="d").apply((a, c))[0]
    assert y.dtype == np.float64
    soft = F.SoftmaxCrossEntropy(True, True, None, -1, "mean", "kl-divergence")
    assert soft.apply((a, np.full((3, 2), 0.5, "f")))[0].shape == ()
    hinge = F.Hinge()
    t = np.zeros(3, "i")
    np.testing.assert_array_equal(hinge(a, t).array, F.hinge(a, t).array)
    assert F.RReLU().lower == 1 / 8
    with chainer.using_config("train", False):
        tree = F.TreeLSTM()(*arrays((2, 3), (2, 12)))
    assert [y.shape for y in tree] == [(2, 3), (2, 3)]


@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_products_with_permuted_output(transposed):
    from chainer import gradient_check

    a, b = arrays((3, 2), (2, 4))
    order = ((1,), (0,)) if transposed else None

    def product(a, b):
        return F.math.tensordot.TensorDot(1, c_axes=order).apply((a, b))[0]

    gy = arrays((4, 3) if transposed else (3, 4))[0].array
    options = {"dtype": "d", "atol": 1e-4, "rtol": 1e-4}
    gradient_check.check_backward(product, (a.array, b.array), gy, **options)

    def matmul(a, b):
        return F.MatMul(False, False, transposed).apply((a, b))[0]

    gradient_check.check_backward(matmul, (a.array, b.array), gy, **options)
    gradient_check.check_double_backward(
        matmul, (a.array, b.array), gy, (a.array, b.array), **options
    )


def test_one_step_of_recurrent_cells():
    x, h, c = arrays((2, 3), (2, 4), (2, 4))
    ws = arrays(*[(4, 3)] * 4, *[(4, 4)] * 4)
    bs = arrays(*[(4,)] * 8)
    h1, c1 = F.rnn.n_step_lstm._lstm(x, h, c, ws, bs)
    hy, cy, _ = F.n_step_lstm(1, 0.0, h[None], c[None], [ws], [bs], [x])
    np.testing.assert_allclose(h1.array, hy.array[0], rtol=1e-5)
    np.testing.assert_allclose(c1.array, cy.array[0], rtol=1e-5)
    arguments = (1, 0.0, h[None], c[None], [ws], [bs], [x], False)
    hy2, cy2, ys = F.rnn.n_step_rnn.n_step_rnn_impl(F.rnn.n_step_lstm._lstm, *arguments)
    np.testing.assert_allclose(hy2.array, hy.array, rtol=1e-5)
    np.testing.assert_allclose(cy2.array, cy.array, rtol=1e-5)
    assert [y.shape for y in ys] == [(2, 4)]


def test_gradients_of_lstm_as_functions():
    c, x, gc, gh = arrays((2, 3), (2, 12), (2, 3), (2, 3))
    c_next, h = F.lstm(c, x)
    expected = chainer.grad([c_next, h], [c, x], [gc, gh])
    actual = F.rnn.lstm.LSTMGrad()(c, x, c_next, gc, gh)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a.array, b.array, rtol=1e-5)
        assert a.requires_grad
    gradients = F.rnn.slstm.SLSTMGrad()(c, c, x, x, None, gc, None)
    assert [g.shape for g in gradients] == [(2, 3), (2, 3), (2, 12), (2, 12)]


def test_labels_of_constants():
    label = F.math.basic_math._convert_value_to_string
    assert [label(v) for v in (2, -2.0, np.float32(3), np.int64(-1))] == [
        "2",
        "(-2.0)",
        "3.0",
        "(-1)",
    ]
    assert label(np.ones(2)) == label(chainer.Variable(np.ones(2))) == "constant array"
    with pytest.raises(ValueError, match="Value must be"):
        label([1])


def test_arrays_level_helpers():
    x = np.array([[1.0, 2.0, 4.0]])
    logsumexp = np.log(np.exp(x).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(F.activation.log_softmax.logsumexp(x, 1), logsumexp)
    np.testing.assert_allclose(F.activation.log_softmax._log_softmax(x), x - logsumexp)
    np.testing.assert_array_equal(F.array.flip._flip(x, 1), x[:, ::-1])
    y, t = np.eye(3, dtype="f"), np.arange(3, dtype="i")
    score, support = F.evaluation.classification_summary.fbeta_score(y, t)
    assert (score.array.tolist(), support.array.tolist()) == ([1, 1, 1], [1, 1, 1])
    F.math.basic_math.install_variable_arithmetics()


def test_pair_of_functions_of_another_framework():
    theano_function = F.theano.theano_function.theano_function
    a, b = arrays((2,), (2,))
    i = np.arange(2, dtype="i2")
    y, z = theano_function(
        lambda a, b, i: [a * b, a + i],
        lambda a, b, i, gy, gz: [gy * b + gz, gy * a, i],
        a,
        b,
        i,
    )
    np.testing.assert_array_equal(z.array, a.array + i)
    y.grad = np.ones(2, "f")
    y.backward()
    np.testing.assert_array_equal(a.grad, b.array)
    np.testing.assert_array_equal(b.grad, a.array)
