"""Modules of PyTorch as links."""

import pickle

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import gradient_check


@pytest.fixture
def module(torch):
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.BatchNorm1d(5), nn.Linear(5, 3)).double()


@pytest.fixture
def link(module):
    from chainer_torch import TorchModule

    return TorchModule(module)


X = np.random.RandomState(0).rand(6, 4)


def test_parameters_and_buffers_are_the_same_memory(module, link):
    names = [name.replace("/", ".")[1:] for name, _ in link.namedparams()]
    assert sorted(names) == sorted(dict(module.named_parameters()))
    dict(link.namedparams())["/0/weight"].array[0, 0] = 7
    assert module[0].weight[0, 0].item() == 7
    link(X)
    statistics = dict(link.namedlinks())["/2"]
    np.testing.assert_array_equal(statistics.running_mean, module[2].running_mean.numpy())
    assert statistics.num_batches_tracked == 1


def test_outputs_and_gradients_are_the_ones_of_pytorch(torch, module, link):
    loss = F.sum(link(X) ** 2)
    link.cleargrads()
    loss.backward()
    expected = module(torch.from_numpy(X)).pow(2).sum()
    expected.backward()
    assert float(loss.array) == pytest.approx(expected.item(), rel=1e-14)
    for name, parameter in link.namedparams():
        tensor = module.get_parameter(name[1:].replace("/", "."))
        np.testing.assert_allclose(parameter.grad, tensor.grad.numpy(), rtol=1e-12, atol=1e-14)


def test_gradients(link):
    gy = np.random.RandomState(1).rand(6, 3)
    parameters = tuple(link.params())
    gradient_check.check_backward(lambda x, *_: link(x), X, gy, params=parameters, dtype="d")


def test_gradients_of_gradients(link):
    rng = np.random.RandomState(1)
    parameters = tuple(link.params())
    gradient_check.check_double_backward(
        link,
        X,
        rng.rand(6, 3),
        rng.rand(6, 4),
        params=parameters,
        params_grad_grad=[rng.rand(*p.shape) for p in parameters],
        dtype="d",
    )


def test_third_derivative(torch):
    from chainer_torch import TorchModule

    x = chainer.Variable(np.array([[0.3, -0.4]]))
    link = TorchModule(torch.nn.Tanh())
    y = F.sum(link(x))
    for _ in range(3):
        (y,) = chainer.grad([y], [x], enable_double_backprop=True)
    t = np.tanh(x.array)
    # The third derivative of tanh.
    np.testing.assert_allclose(y.array, (1 - t**2) * (6 * t**2 - 2), rtol=1e-12)


def test_an_optimizer_trains_the_module(torch, module, link):
    before = module[0].weight.detach().clone()
    optimizer = chainer.optimizers.Adam(0.1).setup(link)
    losses = [_step(optimizer, link) for _ in range(30)]
    assert losses[-1] < losses[0] / 2
    assert not torch.equal(before, module[0].weight)


def _step(optimizer, link):
    loss = F.mean_squared_error(link(X), np.zeros((6, 3)))
    link.cleargrads()
    loss.backward()
    optimizer.update()
    return float(loss.array)


def test_the_mode_follows_the_configuration(module, link):
    link(X)
    assert module.training
    with chainer.using_config("train", False):
        link(X)
    assert not module.training


def test_no_graph_without_backprop(link):
    with chainer.no_backprop_mode():
        y = link(X)
    assert y.creator is None
    assert not y.requires_grad


def test_frozen_parameters(torch, module):
    from chainer_torch import TorchModule

    module[0].requires_grad_(False)
    link = TorchModule(module)
    F.sum(link(X)).backward()
    weights = dict(link.namedparams())
    assert not weights["/0/weight"].requires_grad
    assert weights["/3/weight"].grad is not None


def test_saved_and_loaded(torch, link, tmp_path):
    from chainer_torch import TorchModule

    link(X)
    chainer.serializers.save_npz(tmp_path / "link.npz", link)
    nn = torch.nn
    other = TorchModule(
        nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.BatchNorm1d(5), nn.Linear(5, 3)).double()
    )
    chainer.serializers.load_npz(tmp_path / "link.npz", other)
    pickled = pickle.loads(pickle.dumps(link))
    with chainer.using_config("train", False):
        expected = link(X).array
        np.testing.assert_array_equal(other(X).array, expected)
        np.testing.assert_array_equal(pickled(X).array, expected)


def test_copies_are_their_own(link):
    copy = link.copy("copy")
    dict(copy.namedparams())["/0/weight"].array[...] = 0
    assert copy.module is not link.module
    with chainer.using_config("train", False):
        assert not np.array_equal(copy(X).array, link(X).array)
        shared = link.copy("share")
        np.testing.assert_array_equal(shared(X).array, link(X).array)


def test_arguments_and_results_in_containers(torch):
    from chainer_torch import TorchModule

    class Pair(torch.nn.Module):
        def forward(self, pair, *, scale):
            return {"sum": (pair[0] + pair[1]) * scale["by"], "index": pair[0].argmax(1), "n": 3}

    x = chainer.Variable(X)
    result = TorchModule(Pair())([x, X], scale={"by": x})
    assert result["n"] == 3
    assert result["index"].dtype == np.int64
    F.sum(result["sum"]).backward()
    np.testing.assert_allclose(x.grad, 3 * X)


def test_tied_weights_are_one_parameter(torch):
    from chainer_torch import TorchModule

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(5, 3)
            self.head = torch.nn.Linear(3, 5, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            return self.head(self.embed(ids))

    link = TorchModule(Tied())
    assert [name for name, _ in link.namedparams()] == ["/embed/weight"]
    F.sum(link(np.array([1, 2]))).backward()
    assert np.abs(link.embed.weight.grad).sum() > 0


def test_names_of_links_are_kept_apart(torch):
    from chainer_torch import TorchModule

    module = torch.nn.ModuleDict({"copy": torch.nn.Linear(2, 2)})
    assert "/copy_/weight" in dict(TorchModule(module).namedparams())


def test_errors(torch):
    from chainer_torch import TorchModule

    with pytest.raises(TypeError, match=r"module must be a torch.nn.Module, got int"):
        TorchModule(3)
    with pytest.raises(TypeError, match="parameter 'weight' must be on the CPU"):
        TorchModule(torch.nn.Linear(2, 2, device="meta"))
    with pytest.raises(TypeError, match="bfloat16, which NumPy cannot share"):
        TorchModule(torch.nn.Linear(2, 2).bfloat16())
