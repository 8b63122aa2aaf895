"""Orders of gates and axes, and traces of calls: without PyTorch."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

from chainer_torch.layers import LAYERS, arrays_of, is_unit, layer_of_link
from chainer_torch.traces import called_links

LINKS = [
    L.Linear(3, 2),
    L.Convolution2D(2, 3, 3),
    L.DepthwiseConvolution2D(3, 2, 3),
    L.BatchNormalization(3),
    L.Bilinear(2, 3, 4, nobias=True),
    L.LSTM(3, 4),
    L.NStepLSTM(2, 3, 4, 0.0),
    L.NStepBiGRU(2, 3, 4, 0.0),
    L.NStepRNNReLU(1, 3, 4, 0.0),
]


@pytest.mark.parametrize("link", LINKS, ids=lambda link: type(link).__name__)
def test_there_and_back(link):
    layer = layer_of_link(link)
    arrays = arrays_of(link)
    tensors = layer.to_torch(link, arrays)
    back = layer.from_torch(link, tensors)
    assert set(back) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array, err_msg=name)


def test_all_names_are_links_of_chainer():
    assert all(hasattr(L, name) for layer in LAYERS for name in layer.links)


def test_gates_of_an_lstm():
    """The rows of one unit are g, i, f, o; PyTorch has all i, then f, g and o."""
    link = L.LSTM(1, 2)
    link.upward.b.array[...] = np.arange(8)  # g0 i0 f0 o0 g1 i1 f1 o1
    tensors = layer_of_link(link).to_torch(link, arrays_of(link))
    assert tensors["bias_ih"].tolist() == [1, 5, 2, 6, 0, 4, 3, 7]
    assert not tensors["bias_hh"].any()


def test_channels_of_a_depthwise_convolution():
    link = L.DepthwiseConvolution2D(2, 3, 1, nobias=True)
    weight = layer_of_link(link).to_torch(link, arrays_of(link))["weight"]
    x = np.random.RandomState(0).rand(1, 2, 4, 4).astype(np.float32)
    y = F.convolution_2d(x, weight, groups=2)
    np.testing.assert_allclose(y.array, link(x).array, rtol=1e-5)


class Swapped(chainer.Chain):
    """Its links are called in another order than they are made."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.last = L.Linear(4, 4)
            self.first = L.Linear(4, 4)
            self.cell = L.LSTM(4, 4)

    def forward(self, x):
        return self.last(self.cell(self.first(x)))


def test_calls_are_in_the_order_of_the_program():
    x = np.zeros((1, 4), np.float32)
    assert [path for path, _ in called_links(Swapped(), (x,))] == ["/first", "/cell", "/last"]


def test_the_numbers_of_a_sequential_do_not_matter():
    first, second = L.Linear(4, 4), L.Linear(4, 4)
    model = chainer.Sequential(first, F.relu, second)
    calls = called_links(model, (np.zeros((1, 4), np.float32),))
    assert [link for _, link in calls] == [first, second]


def test_a_recurrent_link_keeps_its_state():
    link = L.LSTM(4, 4)
    x = np.ones((1, 4), np.float32)
    link(x)
    before = link.h.array.copy()
    called_links(link, (x,))
    np.testing.assert_array_equal(link.h.array, before)


def test_lengths_are_learned_from_the_sample():
    model = chainer.Sequential(L.Linear(None, 3))
    called_links(model, (np.zeros((1, 4), np.float32),))
    assert next(iter(model.params())).shape is not None
    assert model[0].W.shape == (3, 4)


def test_parameters_without_a_call_are_an_error():
    class Tied(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed = L.EmbedID(5, 4)

        def forward(self, x):
            return F.linear(x, self.embed.W)

    with pytest.raises(ValueError, match="/embed/W is of no link that the model calls"):
        called_links(Tied(), (np.zeros((1, 4), np.float32),))


def test_gru_is_one_unit():
    assert is_unit(L.StatefulGRU(3, 4))
    assert layer_of_link(L.StatefulGRU(3, 4)) is None
    assert not is_unit(Swapped())
