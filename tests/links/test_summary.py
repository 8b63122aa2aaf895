"""Tables of models."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, 4, 3)
            self.bn = L.BatchNormalization(4)
            self.out = L.Linear(None, 10)
            self.same = self.out

    def forward(self, x):
        h = F.relu(self.bn(self.conv(x)))
        return self.out(F.average(h, axis=(2, 3)))


def test_shapes_and_numbers():
    model = Model()
    result = chainer.summary(model, np.zeros((2, 1, 8, 8), np.float32))
    layers = {layer.path: layer for layer in result.layers}
    assert sorted(layers) == ["/", "/bn", "/conv", "/out"]
    assert layers["/conv"].outputs == [(2, 4, 6, 6)] and layers["/conv"].parameters == 40
    assert layers["/bn"].parameters == 8 and layers["/out"].parameters == 50
    assert layers["/"].outputs == [(2, 10)] and layers["/"].parameters == 0
    assert result.parameters == result.trainable == 98
    assert result.parameter_bytes == 98 * 4
    assert result.output_bytes == 4 * (2 * (288 // 2) * 2 + 20)
    assert result.uninitialized == 0


def test_layers_are_in_the_order_of_the_calls():
    class Reversed(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.last = chainer.links.Linear(4, 2)
                self.first = chainer.links.Linear(3, 4)

        def forward(self, x):
            return self.last(self.first(x))

    layers = chainer.summary(Reversed(), np.zeros((1, 3), np.float32)).layers
    assert [layer.path for layer in layers if layer.path != "/"] == ["/first", "/last"]


def test_the_call_has_no_effect_but_initialization():
    model = Model()
    model(np.zeros((2, 1, 8, 8), np.float32))
    before = model.bn.avg_mean.copy(), model.bn.N
    chainer.summary(model, np.ones((2, 1, 8, 8), np.float32))
    np.testing.assert_array_equal(model.bn.avg_mean, before[0])
    assert before[1] == model.bn.N
    assert not model.local_link_hooks


def test_without_an_input():
    result = chainer.summary(Model())
    assert result.uninitialized == 2 and result.output_bytes is None
    text = str(result)
    assert "have no shape before the first call" in text and "output" not in text.split("\n")[0]
    assert [line.split()[-1] for line in text.splitlines() if "Convolution2D" in line] == ["?"]


def test_frozen_parameters_are_not_trainable():
    model = chainer.Sequential(L.Linear(2, 3), L.Linear(3, 1))
    chainer.optimizers.SGD().setup(model)
    model[0].disable_update()
    result = chainer.summary(model)
    assert (result.parameters, result.trainable) == (13, 4)


def test_a_link_that_is_called_twice_and_returns_several_arrays():
    class Twice(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.lstm = L.StatelessLSTM(3, 2)

        def forward(self, x):
            c, h = self.lstm(None, None, x)
            c, h = self.lstm(c, h, x)
            return {"c": c, "h": [h]}

    result = chainer.summary(Twice(), np.zeros((5, 3), np.float32))
    layers = {layer.path: layer for layer in result.layers}
    assert layers["/lstm"].outputs == [(5, 2), (5, 2)] and layers["/lstm"].calls == 2
    assert layers["/"].outputs == [(5, 2), (5, 2)]
    assert "(5, 2), (5, 2) x 2" in str(result)


def test_html_is_escaped():
    class Odd(chainer.Chain):
        pass

    Odd.__name__ = "Odd<script>"
    for html in (Odd()._repr_html_(), chainer.summary(Odd())._repr_html_()):
        assert "<script>" not in html and "Odd&lt;script&gt;" in html


def test_a_model_with_own_names():
    class Own(chainer.Chain):
        summary = "own"
        mean = 3

    assert Own().summary == "own" and "Own" in str(chainer.summary(Own()))


def test_no_link():
    with pytest.raises(TypeError, match=r"model must be a chainer.Link, got int"):
        chainer.summary(3)


def test_strict_backend():
    model = Model()
    model.to_device("@strict")
    x = chainer.get_device("@strict").send(np.zeros((2, 1, 8, 8), np.float32))
    assert chainer.summary(model, x).layers[0].outputs == [(2, 10)]
