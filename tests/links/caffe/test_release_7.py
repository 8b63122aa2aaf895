"""What programs of release 7 do with CaffeFunction besides calling it."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.links.caffe import caffe_function

pytest.importorskip("google.protobuf")
from google.protobuf import text_format


@pytest.fixture
def load(tmp_path):
    def load(text, kind=caffe_function.CaffeFunction):
        net = text_format.Merge(text, caffe_function.caffe_pb.NetParameter())
        (tmp_path / "model").write_bytes(net.SerializeToString())
        return kind(str(tmp_path / "model"))

    return load


def layer(kind, rest="", bottom="x"):
    bottoms = " ".join(f'bottom: "{name}"' for name in bottom)
    return f'layer {{ name: "l" type: "{kind}" {bottoms} top: "y" {rest} }}'


#: Definition, inputs, patched function, and its arguments behind the input in release 7.8.1.
CALLS = {
    "relu": (layer("ReLU"), "relu", (), {}),
    "leaky": (
        *(layer("ReLU", "relu_param { negative_slope: 0.5 }"), "leaky_relu", (), {"slope": 0.5}),
    ),
    "pooling": (
        layer("Pooling", "pooling_param { kernel_size: 2 stride: 2 }"),
        *("max_pooling_2d", (2,), {"stride": 2, "pad": 0}),
    ),
    "pooling of two sizes": (
        layer("Pooling", "pooling_param { pool: AVE kernel_h: 2 kernel_w: 3 pad_h: 1 pad_w: 1 }"),
        *("average_pooling_2d", ((2, 3),), {"stride": 1, "pad": (1, 1)}),
    ),
    "reshape": (
        layer("Reshape", "reshape_param { shape { dim: 3 dim: -1 } }"),
        *("reshape", (), {"shape": [3, -1]}),
    ),
    "softmax": (layer("Softmax", "softmax_param { engine: CUDNN }"), "softmax", (), {}),
    "dropout": (
        *(layer("Dropout", "dropout_param { dropout_ratio: 0.25 }"), "dropout", ()),
        {"ratio": 0.25},
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_functions_are_those_of_the_module(load, case):
    text, name, args, kwargs = CALLS[case]
    model = load(text)
    x = chainer.Variable(np.ones((1, 1, 3, 3), np.float32))
    with mock.patch(f"chainer.functions.{name}", return_value=x) as function:
        assert model(inputs={"x": x}, outputs=["y"]) == (x,)
    function.assert_called_once_with(x, *args, **kwargs)


@pytest.mark.parametrize("fixed", ["true", "false"])
def test_batch_normalization(load, fixed):
    blobs = "blobs { shape { dim: 2 } data: 1 data: 2 } blobs { shape { dim: 2 } data: 1 data: 4 }"
    text = layer("BatchNorm", f"batch_norm_param {{ use_global_stats: {fixed} }} {blobs}")
    model = load(text)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    (y,) = model(inputs={"x": x}, outputs=["y"])
    expected = (x - [1, 2]) / [1, 2] if fixed == "true" else (x - x.mean(0)) / x.std(0)
    np.testing.assert_allclose(y.array, expected, rtol=1e-4)
    np.testing.assert_allclose(
        model.l.avg_mean, [1, 2] if fixed == "true" else 0.999 * np.array([1, 2]) + [0.003, 0.004]
    )
    with mock.patch.object(L.BatchNormalization, "forward", return_value=y) as forward:
        load(text)(inputs={"x": x}, outputs=["y"])
    assert forward.call_args.kwargs == {"finetune": False}


def test_weights_of_old_files(load):
    values = " ".join(f"data: {i}" for i in range(24))
    model = load(
        f'layers {{ name: "l" type: CONVOLUTION bottom: "x" top: "y" convolution_param {{'
        f" kernel_size: 2 num_output: 3 }} blobs {{ num: 3 channels: 2 {values} }}"
        " blobs { data: 1 data: 2 data: 3 } }"
    )
    np.testing.assert_array_equal(model.l.W.array, np.arange(24).reshape(3, 2, 2, 2))
    np.testing.assert_array_equal(model.l.b.array, [1, 2, 3])


@pytest.mark.parametrize(("kind", "outputs"), [("Convolution", 4), ("Deconvolution", 6)])
def test_weights_of_groups_cover_all_channels(load, kind, outputs):
    shape = {"Convolution": (4, 2, 1, 1), "Deconvolution": (4, 3, 1, 1)}[kind]
    values = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    dims = " ".join(f"dim: {n}" for n in shape)
    data = " ".join(f"data: {n}" for n in values.ravel())
    param = f"num_output: {outputs} group: 2 kernel_size: 1 bias_term: false"
    text = f"convolution_param {{ {param} }} blobs {{ shape {{ {dims} }} {data} }}"
    model = load(layer(kind, text))
    expected = np.zeros((4, 2 * shape[1]), np.float32)
    expected[:2, : shape[1]], expected[2:, shape[1] :] = values[:2, :, 0, 0], values[2:, :, 0, 0]
    np.testing.assert_array_equal(model.l.W.array[:, :, 0, 0], expected)
    assert model.l.groups == 1
    x = np.array([1, 10, 100, 1000], np.float32).reshape(1, 4, 1, 1)
    (y,) = model(inputs={"x": x}, outputs=["y"])
    weight = expected.T if kind == "Deconvolution" else expected
    np.testing.assert_array_equal(y.array.ravel(), weight @ x.ravel())


def test_shapes_of_an_inner_product(load):
    values = " ".join(f"data: {i}" for i in range(6))
    text = "inner_product_param { bias_term: false } blobs { shape { %s } " + values + " }"
    # The last two lengths of four are the shape of the weight.
    model = load(layer("InnerProduct", text % "dim: 4 dim: 5 dim: 2 dim: 3"))
    np.testing.assert_array_equal(model.l.W.array, np.arange(6).reshape(2, 3))
    for dims in ("dim: 6", "dim: 1 dim: 2 dim: 3", "dim: 1 dim: 1 dim: 1 dim: 2 dim: 3"):
        with pytest.raises(RuntimeError, match="-dimensional array is not supported"):
            load(layer("InnerProduct", text % dims))


def test_coefficients_of_an_eltwise_layer(load):
    model = load(layer("Eltwise", "eltwise_param { coeff: 2 }", bottom="xz"))
    with pytest.raises(AssertionError, match="1 coefficients got 2 inputs"):
        model(inputs={"x": np.ones(3, "f"), "z": np.ones(3, "f")}, outputs=["y"])


def test_a_layer_in_place_gives_one_variable(load):
    model = load('layer { name: "l" type: "Dropout" bottom: "x" top: "x" }')
    x = chainer.Variable(np.ones((2, 2), np.float32))
    with chainer.using_config("train", False):
        assert model(inputs={"x": x}, outputs=["x"])[0] is x


def test_subclass_with_a_method_for_another_layer(load):
    class Model(caffe_function.CaffeFunction):
        @caffe_function._layer("ELU", None)
        def _setup_elu(self, layer):
            self.forwards[layer.name] = caffe_function._SingleArgumentFunction(F.elu, alpha=2)
            self._add_layer(layer)

    try:
        x = np.array([[-1, 1]], np.float32)
        (y,) = load(layer("ELU"), Model)(inputs={"x": x}, outputs=["y"])
        np.testing.assert_array_equal(y.array, F.elu(x, 2).array)
    finally:
        del caffe_function._type_to_method["ELU"]


def test_helpers():
    pb = caffe_function.caffe_pb
    param = pb.ConvolutionParameter(kernel_size=[3], stride=[2])
    assert caffe_function._get_ksize(param) == 3
    assert caffe_function._get_stride(param) == 2
    assert caffe_function._get_pad(param) == 0
    assert caffe_function._get_ksize(pb.PoolingParameter(kernel_h=2, kernel_w=3)) == (2, 3)
    blob = pb.BlobProto(num=1, channels=2, height=3, width=4)
    shaped = pb.BlobProto(shape=pb.BlobShape(dim=[1, 2, 3, 4]))
    for each in (blob, shaped):
        assert caffe_function._get_num(each) == 1
        assert caffe_function._get_channels(each) == 2
        assert caffe_function._get_height(each) == 3
        assert caffe_function._get_width(each) == 4
