"""Weights of models in both libraries."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest

X = np.random.RandomState(0).rand(2, 3, 8, 8).astype(np.float32)


def network():
    return chainer.Sequential(
        L.Convolution2D(3, 4, 3, pad=1),
        L.BatchNormalization(4, eps=1e-5),
        F.relu,
        L.Deconvolution2D(4, 5, 2, stride=2),
        L.DepthwiseConvolution2D(5, 2, 3),
        lambda h: F.mean(h, axis=(2, 3)),
        L.Linear(None, 4),
        L.LayerNormalization(4, eps=1e-5),
    )


@pytest.fixture
def module(torch):
    nn = torch.nn

    class Module(nn.Module):
        """Other names, in another order."""

        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(4)
            self.conv = nn.Conv2d(3, 4, 3, padding=1)
            self.bn = nn.BatchNorm2d(4)
            self.up = nn.ConvTranspose2d(4, 5, 2, stride=2)
            self.wise = nn.Conv2d(5, 10, 3, groups=5)
            self.fc = nn.Linear(10, 4)

        def forward(self, x):
            h = self.wise(self.up(torch.relu(self.bn(self.conv(x)))))
            return self.norm(self.fc(h.mean((2, 3))))

    return Module().eval()


def compare(torch, model, module):
    with chainer.using_config("train", False), torch.no_grad():
        y = module(torch.from_numpy(X)).numpy()
        np.testing.assert_allclose(model(X).array, y, rtol=1e-5, atol=1e-6)


def test_to_pytorch(torch, module):
    from chainer_torch import to_state_dict

    model = network()
    model(X)  # running statistics
    module.load_state_dict(to_state_dict(model, module, X))
    compare(torch, model, module)


def test_from_pytorch(torch, module):
    from chainer_torch import from_state_dict

    module.train()(torch.from_numpy(X))
    module.eval()
    model = network()
    from_state_dict(model, module=module, args=X)
    compare(torch, model, module)


@pytest.mark.parametrize("name", ["NStepLSTM", "NStepBiLSTM", "NStepGRU", "NStepRNNTanh"])
def test_recurrent_networks(torch, name):
    from chainer_torch import from_state_dict, to_state_dict

    kind = getattr(torch.nn, name.replace("NStep", "").replace("Bi", "").replace("Tanh", ""))
    link, again = getattr(L, name)(2, 3, 4, 0.0), getattr(L, name)(2, 3, 4, 0.0)
    module = kind(3, 4, 2, bidirectional="Bi" in name)
    module.load_state_dict(to_state_dict(link))
    x = X[0, 0, :, :3].copy()
    states = [None, None] if "LSTM" in name else [None]
    y = link(*states, [x])[-1][0]
    expected = module(torch.from_numpy(x[:, None]))[0][:, 0].detach().numpy()
    np.testing.assert_allclose(y.array, expected, rtol=1e-5, atol=1e-6)
    from_state_dict(again, module.state_dict())
    np.testing.assert_array_equal(again(*states, [x])[-1][0].array, y.array)


def test_lstm_cell(torch):
    from chainer_torch import to_state_dict

    link = L.LSTM(3, 4)
    x = X[0, 0, :2, :3].copy()

    class Cell(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = torch.nn.LSTMCell(3, 4)

        def forward(self, x):
            return self.cell(x)[0]

    cell = Cell()
    cell.load_state_dict(to_state_dict(link, cell, x))
    y = cell(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(link(x).array, y, rtol=1e-5, atol=1e-6)


def test_models_that_differ(torch, module):
    from chainer_torch import from_state_dict, to_state_dict

    nn = torch.nn
    with pytest.raises(ValueError, match=r"\(Linear\) is called where the module calls 0 \(Conv2d"):
        to_state_dict(chainer.Sequential(L.Linear(192, 2)), nn.Sequential(nn.Conv2d(3, 3, 1)), X)
    two = chainer.Sequential(L.Convolution2D(3, 3, 1), L.Convolution2D(3, 3, 1))
    with pytest.raises(ValueError, match="the link calls 2 layers, the module 1; not paired"):
        to_state_dict(two, nn.Sequential(nn.Conv2d(3, 3, 1)), X)
    one = chainer.Sequential(L.Convolution2D(3, 3, 1))
    with pytest.raises(ValueError, match=r"the shape of weight is \(4, 3, 1, 1\) in the module"):
        to_state_dict(one, nn.Sequential(nn.Conv2d(3, 4, 1)), X)
    with pytest.raises(ValueError, match="args must be given with module"):
        to_state_dict(network(), module)
    with pytest.raises(ValueError, match=r"StatefulGRU.*resets after the product"):
        to_state_dict(chainer.Sequential(L.StatefulGRU(3, 4)))
    link = L.Linear(3, 2)
    weights = link.W.array.copy()
    with pytest.raises(ValueError, match="state_dict has more, which no layer"):
        from_state_dict(link, {**to_state_dict(link), "more": torch.zeros(1)})
    with pytest.raises(ValueError, match=r"state_dict has nothing for / \(Linear\), value b"):
        from_state_dict(link, {"weight": torch.zeros(2, 3)})
    with pytest.raises(ValueError, match=r"the shape is \(2, 3\), got \(3, 3\)"):
        from_state_dict(link, {"weight": torch.zeros(3, 3), "bias": torch.zeros(2)})
    np.testing.assert_array_equal(link.W.array, weights)
