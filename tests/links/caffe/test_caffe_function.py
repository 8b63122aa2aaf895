"""CaffeFunction: layers against plain functions, old files, execution, copies, broken files."""

from __future__ import annotations

import copy
import os
import pickle

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.links.caffe import CaffeFunction, _schema
from chainer.links.caffe._wire import write_message

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(2, 4, 6, 6).astype(np.float32)
Y = RANDOM.randn(2, 4, 6, 6).astype(np.float32)


def array(*shape):
    return np.random.RandomState(sum(shape)).uniform(0.5, 1, shape).astype(np.float32)


def blob(values):
    return {"shape": {"dim": values.shape}, "data": values.ravel()}


def old_blob(values):
    sizes = (1, 1, 1, 1, *values.shape)[-4:]
    names = ("num", "channels", "height", "width")
    return {**dict(zip(names, sizes)), "data": values.ravel()}


def layer(kind, *blobs, bottom=("x",), top=("y",), name="l", **fields):
    return {
        "name": name,
        "type": kind,
        "bottom": bottom,
        "top": top,
        "blobs": [blob(values) for values in blobs],
        **fields,
    }


@pytest.fixture
def load(tmp_path):
    def load(*layers, field="layer"):
        path = tmp_path / "net.caffemodel"
        path.write_bytes(write_message(_schema.NET, {"name": "net", field: layers}))
        return CaffeFunction(path)

    return load


def lrn(x):
    return F.local_response_normalization(x, n=3, k=2, alpha=0.1, beta=0.5)


def convolution(**fields):
    return {"convolution_param": {"num_output": 2, "kernel_size": [3], **fields}}


W, B = array(2, 4, 3, 3), array(2)
W_GROUPS = array(2, 2, 3, 2)
W_DECONVOLUTION = array(4, 2, 3, 3)

CASES = {
    "convolution": (
        layer("Convolution", W, B, **convolution()),
        lambda x: F.convolution_2d(x, W, B),
    ),
    "convolution_options": (
        layer(
            "Convolution",
            W_GROUPS,
            convolution_param={
                "num_output": 2,
                "bias_term": False,
                "kernel_h": 3,
                "kernel_w": 2,
                "stride_h": 1,
                "stride_w": 2,
                "pad": [2, 1],
                "group": 2,
                "dilation": [2],
            },
        ),
        lambda x: F.convolution_2d(x, W_GROUPS, None, (1, 2), (2, 1), dilate=2, groups=2),
    ),
    "deconvolution": (
        layer("Deconvolution", W_DECONVOLUTION, B, **convolution(stride=[2], pad=[1])),
        lambda x: F.deconvolution_2d(x, W_DECONVOLUTION, B, 2, 1),
    ),
    "inner_product": (
        layer("InnerProduct", array(3, 144), array(3), inner_product_param={"num_output": 3}),
        lambda x: F.linear(x, array(3, 144), array(3)),
    ),
    "inner_product_transposed": (
        layer(
            "InnerProduct",
            array(144, 3),
            inner_product_param={"num_output": 3, "bias_term": False, "transpose": True},
        ),
        lambda x: F.linear(x, array(144, 3).T.copy()),
    ),
    "batch_norm": (
        layer("BatchNorm", array(4), array(4) + 1, np.float32([2]), batch_norm_param={"eps": 0.1}),
        lambda x: (
            (x - array(4)[:, None, None] / 2)
            / F.sqrt(np.broadcast_to((array(4) + 1)[:, None, None] / 2 + np.float32(0.1), x.shape))
        ),
    ),
    "scale": (
        layer("Scale", array(4), array(4) + 1, scale_param={"bias_term": True}),
        lambda x: x * array(4)[:, None, None] + (array(4) + 1)[:, None, None],
    ),
    "lrn": (
        layer("LRN", lrn_param={"local_size": 3, "k": 2.0, "alpha": 0.3, "beta": 0.5}),
        lrn,
    ),
    "max_pooling": (
        layer("Pooling", pooling_param={"kernel_size": 3, "stride": 2, "pad": 1}),
        lambda x: F.max_pooling_2d(x, 3, 2, 1),
    ),
    "average_pooling": (
        layer("Pooling", pooling_param={"pool": 1, "kernel_h": 3, "kernel_w": 2, "stride": 2}),
        lambda x: F.average_pooling_2d(x, (3, 2), 2),
    ),
    "global_pooling": (
        layer("Pooling", pooling_param={"pool": 1, "global_pooling": True}),
        lambda x: F.average_pooling_2d(x, 6),
    ),
    "relu": (layer("ReLU"), F.relu),
    "leaky_relu": (
        layer("ReLU", relu_param={"negative_slope": 0.25}),
        lambda x: F.leaky_relu(x, 0.25),
    ),
    "sigmoid": (layer("Sigmoid"), F.sigmoid),
    "softmax": (layer("Softmax"), F.softmax),
    "dropout": (layer("Dropout"), lambda x: x),
    "split": (layer("Split"), lambda x: x),
    "reshape": (
        layer("Reshape", reshape_param={"shape": {"dim": [0, 2, -1]}}),
        lambda x: F.reshape(x, (2, 2, 72)),
    ),
    "reshape_some_axes": (
        layer("Reshape", reshape_param={"shape": {"dim": [3, 2]}, "axis": 2, "num_axes": 1}),
        lambda x: F.reshape(x, (2, 4, 3, 2, 6)),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_layers(case, load):
    definition, expected = CASES[case]
    with chainer.using_config("train", False):
        (y,) = load(definition)(inputs={"x": X}, outputs=["y"])
        expected = expected(chainer.Variable(X))
    np.testing.assert_allclose(y.array, expected.array, rtol=1e-4, atol=1e-5)


ELTWISE = {
    "default": ({}, X + Y),
    "product": ({"operation": 0}, X * Y),
    "weighted": ({"operation": 1, "coeff": [2, -1]}, 2 * X - Y),
    "maximum": ({"operation": 2}, np.maximum(X, Y)),
}


@pytest.mark.parametrize("case", ELTWISE)
def test_eltwise(case, load):
    param, expected = ELTWISE[case]
    function = load(layer("Eltwise", bottom=["x", "z"], eltwise_param=param))
    (y,) = function({"x": X, "z": Y}, ["y"])
    np.testing.assert_allclose(y.array, expected, rtol=1e-6)


def test_several_inputs_and_outputs(load):
    function = load(
        layer("Concat", bottom=["x", "z"], top=["c"], concat_param={"axis": 2}, name="c"),
        layer(
            "Slice",
            bottom=["c"],
            top=["p", "q", "r"],
            name="s",
            slice_param={"axis": 2, "slice_point": [2, 6]},
        ),
        layer("Slice", bottom=["x"], top=["u", "v"], name="t"),
        layer("Split", bottom=["u"], top=["u1", "u2"], name="split"),
        layer("Scale", bottom=["x", "w"], top=["w1"], scale_param={"axis": 0}, name="scale"),
    )
    inputs = {"x": X, "z": Y, "w": X[:, 0, 0, 0]}
    q, r, v, u2, w1 = function(inputs, ["q", "r", "v", "u2", "w1"])
    np.testing.assert_array_equal(q.array, X[:, :, 2:])
    np.testing.assert_array_equal(r.array, Y)
    np.testing.assert_array_equal(v.array, X[:, 2:])
    np.testing.assert_array_equal(u2.array, X[:, :2])
    np.testing.assert_allclose(w1.array, X * X[:, :1, :1, :1], rtol=1e-6)
    assert function.split_map == {"u1": "u", "u2": "u"}
    # As in release 7, a Split layer is not among the layers.
    assert [name for name, _, _ in function.layers] == ["c", "s", "t", "scale"]


def test_copies_of_split_layers(load):
    function = load(
        layer("Split", bottom=["x"], top=["u", "v"], name="s0"),
        layer("Split", bottom=["u"], top=["w"], name="s1"),
        layer("ReLU", bottom=["v"], top=["v"], name="relu"),
        layer("Sigmoid", bottom=["w"], top=["y"], name="sigmoid"),
        layer("Eltwise", bottom=["v", "w"], top=["z"], name="sum"),
    )
    y, z, w, v = function({"x": X - 2}, ["y", "z", "w", "v"])
    np.testing.assert_allclose(y.array, F.sigmoid(X - 2).array, rtol=1e-6)
    # A layer that writes a copy in place leaves the other copies as they are.
    np.testing.assert_allclose(z.array, np.maximum(X - 2, 0) + X - 2, rtol=1e-6)
    np.testing.assert_array_equal(w.array, X - 2)
    np.testing.assert_array_equal(v.array, np.maximum(X - 2, 0))
    with pytest.raises(ValueError, match=r"outputs \['w'\] cannot be computed"):
        function({"v": X}, ["w"])
    with pytest.raises(ValueError, match="cannot have 2 inputs"):
        load(layer("Split", bottom=["x", "y"], top=["u"]))


def test_statistics_of_four_lengths(load):
    """Vectors of early files."""
    vector = {"num": 1, "channels": 1, "height": 1, "width": 3, "data": [1.0, 2.0, 3.0]}
    number = {"num": 1, "channels": 1, "height": 1, "width": 1, "data": [2.0]}
    options = {"batch_norm_param": {"use_global_stats": True}}
    function = load({**layer("BatchNorm", **options), "blobs": [vector, vector, number]})
    x = np.ones((2, 3), np.float32)
    (y,) = function({"x": x}, ["y"])
    statistics = np.array([0.5, 1, 1.5])
    np.testing.assert_allclose(y.array, (x - statistics) / np.sqrt(statistics), rtol=1e-4)


def test_softmax_with_loss(load):
    x, t = X[:, :, 0, 0], np.array([1, 3], np.int32)
    (y,) = load(layer("SoftmaxWithLoss", bottom=["x", "t"]))({"x": x, "t": t}, ["y"])
    np.testing.assert_allclose(y.array, F.softmax_cross_entropy(x, t).array, rtol=1e-6)


def test_files_of_before_2014(load):
    convolution_layer = {
        "name": "conv",
        "type": 4,
        "bottom": ["x"],
        "top": ["c"],
        "blobs": [old_blob(W), old_blob(B)],
        **convolution(),
    }
    product = {
        "name": "fc",
        "type": 14,
        "bottom": ["c"],
        "top": ["y"],
        "blobs": [old_blob(array(3, 32)), old_blob(array(3))],
        "inner_product_param": {"num_output": 3},
    }
    in_place = {"name": "relu", "type": 18, "bottom": ["c"], "top": ["c"]}
    data = {"name": "data", "type": 5, "top": ["x", "label"]}
    function = load(data, convolution_layer, in_place, product, field="layers")
    assert [name for name, _, _ in function.layers] == ["conv", "relu", "fc"]
    (y,) = function({"x": X}, ["y"])
    expected = F.linear(F.relu(F.convolution_2d(X, W, B)), array(3, 32), array(3))
    np.testing.assert_allclose(y.array, expected.array, rtol=1e-5)


def test_only_what_is_needed_and_enabled_is_computed(load):
    function = load(
        layer("ReLU", bottom=["x"], top=["a"], name="first"),
        layer("Sigmoid", bottom=["a"], top=["a"], name="second"),
        layer("Softmax", bottom=["unknown"], top=["b"], name="third"),
    )
    np.testing.assert_array_equal(
        function({"x": X}, ["a"], disable=["second"])[0].array, np.maximum(X, 0)
    )
    assert function({"a": X}, ["a"])[0].shape == X.shape
    with pytest.raises(KeyError, match=r"outputs \['b'\] cannot be computed from inputs \['x'\]"):
        function({"x": X}, ["a", "b"])
    with pytest.raises(ValueError, match="train argument is not supported anymore"):
        function({"x": X}, ["a"], train=True)
    with pytest.raises(TypeError, match="list of blob names"):
        function({"x": X}, "a")


def test_unsupported_layers_are_skipped_with_a_warning(load):
    with pytest.warns(UserWarning, match="Skip the layer 'l'.*type Python"):
        function = load(
            layer("Python"), layer("ReLU", name="r"), layer("Silence", top=[], name="s")
        )
    assert list(function.forwards) == ["r"]


def test_parameters_gradients_copies_and_pickles(load):
    function = load(
        layer("Convolution", W, B, top=["c"], name="conv/3x3", **convolution()),
        layer(
            "BatchNorm",
            array(2),
            array(2),
            np.ones(1, np.float32),
            bottom=["c"],
            name="bn",
            batch_norm_param={"use_global_stats": True},
        ),
    )
    assert {path: param.shape for path, param in function.namedparams()} == {
        "/conv/3x3/W": (2, 4, 3, 3),
        "/conv/3x3/b": (2,),
    }
    (y,) = function({"x": X}, ["y"])  # in training mode, yet with the statistics of the file
    function.cleargrads()
    F.sum(y).backward()
    assert np.abs(function["conv/3x3"].W.grad).max() > 0
    np.testing.assert_array_equal(function.bn.avg_mean, array(2))
    for other in (
        function.copy("copy"),
        copy.deepcopy(function),
        pickle.loads(pickle.dumps(function)),
    ):
        np.testing.assert_array_equal(other({"x": X}, ["y"])[0].array, y.array)
        other["conv/3x3"].W.array[...] = 0
        assert np.abs(other({"x": X}, ["y"])[0].array - y.array).max() > 0.1
    np.testing.assert_array_equal(function({"x": X}, ["y"])[0].array, y.array)


BROKEN = {
    "weight": (
        layer("Convolution", array(2, 4, 5, 5), B, **convolution()),
        "weight must have shape",
    ),
    "outputs": (
        layer("Convolution", W, B, convolution_param={"num_output": 1 << 40, "kernel_size": [3]}),
        "does not fit 1099511627776 outputs",
    ),
    "pad": (layer("Convolution", W, B, **convolution(pad=[1 << 40])), "pad must be between"),
    "stride": (layer("Convolution", W, B, **convolution(stride=[0])), "stride must be between"),
    "group": (layer("Convolution", W, B, **convolution(group=0)), "group must be positive"),
    "bias": (layer("Convolution", W, array(3), **convolution()), "bias must have 2 values"),
    "blobs": (layer("Convolution", W, **convolution()), "needs 2 blobs, got 1"),
    "product": (layer("InnerProduct", W, B), "weight must be a matrix"),
    "axis": (layer("InnerProduct", inner_product_param={"axis": 2}), "Non-default axis"),
    "statistics": (layer("BatchNorm", array(2), array(3)), "vectors of one length"),
    "factor": (layer("BatchNorm", array(2), array(2), array(2)), "must be one number"),
    "scale": (layer("Scale", array(2), array(3), scale_param={"bias_term": True}), "bias must"),
    "ratio": (layer("Dropout", dropout_param={"dropout_ratio": 1.5}), r"in \[0, 1\)"),
    "eltwise": (layer("Eltwise", eltwise_param={"operation": 3}), "operation must be"),
    "lrn": (layer("LRN", lrn_param={"norm_region": 1}), "Within-channel LRN is not"),
    "pool": (layer("Pooling", pooling_param={"pool": 3, "kernel_size": 2}), "pool must be"),
    "kernel": (layer("Pooling", pooling_param={"kernel_size": 1 << 30}), "kernel_size must be"),
    "slice": (layer("Slice", slice_param={"slice_point": [1, 2]}), "do not fit 1 outputs"),
    "reshape": (layer("Reshape", reshape_param={"shape": {"dim": [-1, -1]}}), "that only once"),
    "loss": (layer("SoftmaxWithLoss"), "cannot have 1 inputs"),
    "name": (layer("Scale", array(2), name="forward"), "attribute of this name"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_layers(case, load):
    definition, text = BROKEN[case]
    with pytest.raises(ValueError, match=f"net.caffemodel: layer .* of type .*{text}"):
        load(definition)


@pytest.mark.parametrize(
    ("definition", "text"),
    [
        (layer("InnerProduct", inner_product_param={"axis": 2}), "Non-default axis"),
        (layer("LRN", lrn_param={"norm_region": 1}), "Within-channel LRN"),
        (layer("Pooling", pooling_param={"pool": 2}), "Stochastic pooling"),
        (
            layer("SoftmaxWithLoss", bottom=("x", "t"), softmax_param={"axis": 0}),
            "Softmax along non-channel axis",
        ),
    ],
)
def test_options_that_are_not_supported(definition, text, load):
    # The earlier releases raise RuntimeError with these texts.
    with pytest.raises(RuntimeError, match=f"{text}.* is not supported") as caught:
        load(definition)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("kind", ["Convolution", "Deconvolution", "InnerProduct"])
def test_number_of_outputs_may_be_left_out(kind, load):
    weight = array(3, 3, 2, 2) if kind != "InnerProduct" else array(3, 144)
    params = {} if kind == "InnerProduct" else {"convolution_param": {"kernel_size": [2]}}
    link = load(layer(kind, weight, array(3), **params)).l
    assert link.W.shape == weight.shape
    assert link.b.shape == (3,)


def test_two_layers_of_one_name(load):
    with pytest.raises(ValueError, match="two layers of this name"):
        load(layer("ReLU"), layer("Sigmoid"))


def test_a_blob_that_claims_more_than_it_has(load):
    definition = layer("Scale")
    definition["blobs"] = [{"shape": {"dim": [1 << 40, 1 << 40]}, "data": [1, 2]}]
    with pytest.raises(ValueError, match="has 2 values"):
        load(definition)


def test_the_length_of_a_vector_is_that_of_its_data(load):
    """Release 7.8.1 exports biases of deconvolutions with the length of the input channels."""
    definition = layer("Deconvolution", W_DECONVOLUTION, B, **convolution())
    definition["blobs"][1]["shape"] = {"dim": [4]}
    (y,) = load(definition)({"x": X}, ["y"])
    np.testing.assert_allclose(y.array, F.deconvolution_2d(X, W_DECONVOLUTION, B).array, rtol=1e-5)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 an archive", b"name: 'text'", bytes(100)])
def test_files_of_another_kind(data, tmp_path):
    path = tmp_path / "x.caffemodel"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="not a model file of Caffe"):
        CaffeFunction(path)


def test_missing_files_and_pipes(tmp_path):
    with pytest.raises(FileNotFoundError):
        CaffeFunction(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        CaffeFunction(tmp_path / "pipe")


def test_public_names():
    assert L.caffe.CaffeFunction is CaffeFunction
    assert L.caffe.caffe_function.CaffeFunction is CaffeFunction
