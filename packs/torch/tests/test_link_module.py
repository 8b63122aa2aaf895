"""Links as modules of PyTorch."""

import copy
import pickle

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest


class Net(chainer.Chain):
    """A link with a Sequential, and running statistics."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l = L.Linear(4, 5)
            self.bn = L.BatchNormalization(5)
            self.top = chainer.Sequential(L.Linear(5, 5), F.tanh, L.Linear(5, 3))

    def forward(self, x):
        return {"y": self.top(F.tanh(self.bn(self.l(x)))), "n": 3}


@pytest.fixture
def link():
    with chainer.using_config("dtype", np.float64):
        return Net()


@pytest.fixture
def module(torch, link):
    from chainer_torch import LinkModule

    return LinkModule(link)


@pytest.fixture
def x(torch):
    return torch.from_numpy(np.random.RandomState(0).rand(6, 4)).requires_grad_()


def test_names_and_memory(link, module):
    names = [name for name, _ in module.named_parameters()]
    assert sorted(names) == [
        "bn.beta", "bn.gamma", "l.W", "l.b", "top.0.W", "top.0.b", "top.1.W", "top.1.b",
    ]  # fmt: skip
    link.l.W.array[0, 0] = 7
    assert module.get_parameter("l.W")[0, 0].item() == 7


def test_gradients(torch, module, x):
    parameters = tuple(module.parameters())

    def call(x, *_):
        return module(x)["y"]

    assert torch.autograd.gradcheck(call, (x, *parameters))
    assert torch.autograd.gradgradcheck(call, (x, *parameters))


def test_third_derivative_through_both_libraries(torch):
    from chainer_torch import LinkModule, TorchModule

    x = torch.tensor([[0.3, -0.4]], dtype=torch.float64, requires_grad=True)
    y = LinkModule(TorchModule(torch.nn.Tanh()))(x).sum()
    for _ in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    t = np.tanh(x.detach().numpy())
    np.testing.assert_allclose(y.detach().numpy(), (1 - t**2) * (6 * t**2 - 2), rtol=1e-12)


def test_an_optimizer_of_pytorch_trains_the_link(torch, link, module, x):
    before = link.l.W.array.copy()
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = module(x)["y"].pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert np.abs(link.l.W.array - before).max() > 0.01


def test_running_statistics_are_buffers(torch, link, module, x):
    module(x)
    assert np.abs(link.bn.avg_mean).max() > 0
    np.testing.assert_array_equal(module.get_buffer("bn.avg_mean").numpy(), link.bn.avg_mean)
    module.eval()
    with torch.no_grad():
        y = module(x)["y"]
    assert not y.requires_grad
    with chainer.using_config("train", False):
        np.testing.assert_array_equal(y.numpy(), link(x.detach().numpy())["y"].array)


def test_state_dictionaries_copies_and_pickles(torch, module, x):
    module(x)
    module.eval()
    expected = module(x)["y"]
    clone = copy.deepcopy(module)
    assert torch.equal(clone(x)["y"], expected)
    assert torch.equal(pickle.loads(pickle.dumps(module))(x)["y"], expected)
    with torch.no_grad():
        clone.get_parameter("l.W").zero_()
    assert not torch.equal(clone(x)["y"], expected)
    clone.load_state_dict(module.state_dict())
    assert torch.equal(clone(x)["y"], expected)


def test_the_dtype_can_be_changed(torch, link, module, x):
    module.eval()
    expected = module(x)["y"]
    y = module.float()(x.float())["y"]
    assert y.dtype == torch.float32
    assert link.l.W.dtype == np.float32
    torch.testing.assert_close(y.double(), expected, rtol=1e-5, atol=1e-6)


def test_other_results_stay(module, x):
    assert module(x)["n"] == 3


def test_errors(torch):
    from chainer_torch import LinkModule

    with pytest.raises(TypeError, match=r"link must be a chainer.Link, got int"):
        LinkModule(3)
    with pytest.raises(ValueError, match="parameter /W has no value yet: call the link once"):
        LinkModule(L.Linear(None, 3))
