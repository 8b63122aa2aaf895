"""Export to Caffe: what is written is read back to the same outputs."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.exporters import caffe
from chainer.links.caffe import CaffeFunction


class Everything(chainer.Chain):
    """All functions that can be exported."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(4, 8, 3, 1, 1, groups=2, nobias=True)
            self.bn = L.BatchNormalization(8)
            self.deconv = L.Deconvolution2D(16, 8, (2, 3), (2, 1), (0, 1))
            self.dilated = L.DilatedConvolution2D(8, 8, 3, pad=2, dilate=2)
            self.fc = L.Linear(None, 5)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv(x)), 3, 2)
        h = F.local_response_normalization(h, n=3, k=1.5, alpha=0.1, beta=0.6)
        g = self.bn(h)
        h = self.deconv(F.concat([h, g], axis=1))
        h = F.average_pooling_2d(h, (2, 1), (2, 1)) + g + self.dilated(g)
        h = F.dropout(F.add(h, g, h))
        return F.softmax(self.fc(F.reshape(h, (h.shape[0], -1))))


def example(shape=(2, 4, 8, 8)):
    return chainer.Variable(np.random.RandomState(0).randn(*shape).astype(np.float32))


def trained(model, x):
    model(x)  # training mode: statistics are no longer zero and one
    return model


def test_what_is_written_is_read_back(tmp_path):
    x = example()
    model = trained(Everything(), x)
    assert caffe.export(model, [x], tmp_path / "new", True, "net") is None
    function = CaffeFunction(tmp_path / "new" / "chainer_model.caffemodel")
    name, _, (top,) = function.layers[-1]
    assert name == top and top.startswith("Softmax-")
    with chainer.using_config("train", False):
        expected = model(x)
        for batch in (slice(None), slice(1)):
            (y,) = function(inputs={"data": x[batch]}, outputs=[top])
            np.testing.assert_allclose(y.array, expected.array[batch], rtol=1e-5, atol=1e-6)


def test_the_network_as_text(tmp_path):
    model = chainer.Sequential(L.Convolution2D(3, 4, 3, 2, 1), F.relu)
    caffe.export(model, [example((1, 3, 8, 8))], str(tmp_path), False, 'a "net"')
    assert [path.name for path in tmp_path.iterdir()] == ["chainer_model.prototxt"]
    text = (tmp_path / "chainer_model.prototxt").read_text().split()
    assert " ".join(text) == (
        'name: "a \\"net\\"" layer { type: "Input" name: "data" top: "data" '
        "input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } } "
        'layer { type: "Convolution" name: "Convolution2DFunction-0-1" bottom: "data" '
        'top: "Convolution2DFunction-0-1" convolution_param { num_output: 4 bias_term: true '
        "pad_w: 1 pad_h: 1 stride_w: 2 stride_h: 2 kernel_w: 3 kernel_h: 3 group: 1 } } "
        'layer { type: "ReLU" name: "ReLU-1-1" bottom: "Convolution2DFunction-0-1" '
        'top: "ReLU-1-1" }'
    )


def test_two_inputs_and_a_dictionary_of_outputs(tmp_path):
    class Two(chainer.Chain):
        def forward(self, x, y):
            return {"sum": x + y, "relu": F.relu(y)}

    x, y = example((1, 2, 3, 3)), example((1, 2, 3, 3))
    caffe.export(Two(), (x, y), tmp_path)
    function = CaffeFunction(tmp_path / "chainer_model.caffemodel")
    a, b = function({"data": x, "data2": y}, ["_ + _-0-1", "ReLU-0-1"])
    np.testing.assert_array_equal(a.array, x.array + y.array)
    np.testing.assert_array_equal(b.array, np.maximum(y.array, 0))


def test_googlenet_can_be_exported(tmp_path):
    model = L.GoogLeNet(pretrained_model=None)
    x = example((1, 3, 224, 224))
    caffe.export(model, [x], tmp_path)
    function = CaffeFunction(tmp_path / "chainer_model.caffemodel")
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        (y,) = function({"data": x}, [function.layers[-1][0]])
        np.testing.assert_allclose(y.array, model(x)["prob"].array, rtol=1e-4)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (F.tanh, "no equivalent of function 'Tanh'"),
        (lambda x: x + 1, "no equivalent"),
        (lambda x: F.max_pooling_2d(x, 3, 2, cover_all=False), "up to the border"),
        (lambda x: F.average_pooling_nd(x, 2), "no equivalent of function 'AveragePoolingND'"),
        (lambda x: chainer.Variable(np.zeros(1, np.float32)), "does not depend on its inputs"),
        (lambda x: x + chainer.Parameter(0, x.shape), "must get 2 inputs"),
        (L.BatchNormalization(axis=(0, 1)), "over the channels"),
    ],
)
def test_what_caffe_does_not_have(model, text, tmp_path):
    with pytest.raises(ValueError, match=text):
        caffe.export(model, [example()], tmp_path / "no")
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("model", "name", "fields"),
    [
        (F.sigmoid, "Sigmoid-0-1", 'type: "Sigmoid"'),
        (lambda x: F.leaky_relu(x, 0.25), "LeakyReLU-0-1", "relu_param { negative_slope: 0.25 }"),
        (lambda x: F.max_pooling_2d(x, 2), "MaxPoolingND-0-1", "pool: 0"),
        (lambda x: F.max_pooling_nd(x, 2), "MaxPoolingND-0-1", "kernel_w: 2"),
        (L.Deconvolution2D(4, 3, (3, 2)), "Deconvolution2DFunction-0-1", "kernel_w: 2 kernel_h: 3"),
    ],
)
def test_layers_of_release_7(model, name, fields, tmp_path):
    x = example()
    caffe.export(model, [x], tmp_path)
    text = " ".join((tmp_path / "chainer_model.prototxt").read_text().split())
    assert f'name: "{name}"' in text and fields in text
    (y,) = CaffeFunction(tmp_path / "chainer_model.caffemodel")({"data": x}, [name])
    np.testing.assert_allclose(y.array, model(x).array, rtol=1e-5, atol=1e-6)


def test_average_over_complete_windows(tmp_path):
    x = example((1, 3, 8, 8))
    with pytest.warns(UserWarning, match="up to the border"):
        caffe.export(lambda x: F.average_pooling_2d(x, 3, 2), [x], tmp_path)
    function = CaffeFunction(tmp_path / "chainer_model.caffemodel")
    (y,) = function({"data": x}, ["AveragePooling2D-0-1"])
    np.testing.assert_array_equal(y.array, F.average_pooling_2d(x, 3, 2).array)


def test_pooling_of_volumes(tmp_path):
    with pytest.raises(ValueError, match="over 2 axes only, got 1"):
        caffe.export(lambda x: F.max_pooling_nd(x, 2), [example((1, 2, 4))], tmp_path)


def test_wrong_arguments():
    for args in (example(), [np.zeros(3, np.float32)]):
        for error in (TypeError, AssertionError):
            with pytest.raises(error, match="args must be a list of variables"):
                caffe.export(F.relu, args)
    with pytest.raises(TypeError, match="must return variables, got ndarray"):
        caffe.export(lambda x: x.array, [example()])
