"""Training steps on a device: nothing crosses the border to the host, and updates are grouped."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.core.arrays.kernel import Kernel, register_kernel
from chainer.core.registry import registries
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("chainer_strict_backend") is None,
    reason="the distribution in tests/strict_backend is not installed",
)


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 5)
            self.norm = L.BatchNormalization(5)
            self.l2 = L.Linear(5, 3)

    def __call__(self, x):
        return self.l2(F.dropout(F.tanh(self.norm(self.l1(x))), 0.3))


class CNN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(2, 4, 3, pad=1)
            self.bn = L.BatchNormalization(4)
            self.c2 = L.Convolution2D(4, 4, 3, stride=2)
            self.l = L.Linear(4, 3)

    def __call__(self, x):
        h = F.max_pooling_2d(F.relu(self.bn(self.c1(x))), 2, 2)
        h = F.average_pooling_2d(F.leaky_relu(F.local_response_normalization(self.c2(h))), 2, 1)
        return self.l(h)


class RNN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(6, 4)
            self.lstm = L.LSTM(4, 5)
            self.gru = L.StatefulGRU(5, 5)
            self.steps = L.NStepLSTM(2, 5, 5, 0.1)
            self.l = L.Linear(5, 3)

    def __call__(self, x):
        self.lstm.reset_state()
        self.gru.reset_state()
        hs = [self.gru(self.lstm(self.embed(x[:, i]))) for i in range(x.shape[1])]
        _, _, ys = self.steps(None, None, list(F.separate(F.stack(hs, axis=1))))
        return self.l(F.stack([y[-1] for y in ys]))


NETWORKS = {
    "mlp": (MLP, (6, 4), "f"),
    "cnn": (CNN, (6, 2, 10, 10), "f"),
    "rnn": (RNN, (6, 3), "i"),
}


def training(network, device="@strict:0", float16=False):
    make, shape, kind = NETWORKS[network]
    np.random.seed(0)
    model = L.Classifier(make())
    optimizer = O.Adam(eps=1e-3).setup(model)
    optimizer.add_hook(H.WeightDecay(0.01))
    optimizer.add_hook(H.GradientClipping(1.0))
    optimizer.add_hook(H.GradientLARS())
    model.to_device(device)
    values = np.random.randint(0, 6, shape) if kind == "i" else np.random.standard_normal(shape)
    send = chainer.get_device(device).send
    x, t = send(values.astype(kind)), send(np.arange(6, dtype="i") % 3)
    return model, optimizer, x, t


@pytest.mark.parametrize("network", NETWORKS)
def test_steps_without_transfers(network):
    from chainer_strict_backend import count_transfers

    model, optimizer, x, t = training(network)
    reporter = chainer.Reporter()
    reporter.add_observer("main", model)
    summary = chainer.DictSummary()
    optimizer.update(model, x, t)  # states of the optimizer are made here
    with count_transfers() as transfers, reporter:
        for _ in range(2):
            optimizer.update(model, x, t)
            summary.add(reporter.observation)
    assert vars(transfers) == dict.fromkeys(vars(transfers), 0)
    assert float(summary.compute_mean()["main/loss"]) > 0


@pytest.mark.parametrize("hook", [H.GradientClipping(0.5), H.GradientLARS(), H.WeightDecay(0.1)])
def test_hooks_without_transfers(hook):
    from chainer_strict_backend import count_transfers

    model, optimizer, x, t = training("mlp")
    optimizer.remove_hook(hook.name)
    optimizer.add_hook(hook)
    optimizer.set_loss_scale(16.0)
    with count_transfers() as transfers:
        optimizer.update(model, x, t)
    assert transfers.total == 0


@pytest.mark.parametrize("threshold", [0.5, 2.0, 1e9])
def test_clipping_is_that_of_the_host(threshold):
    norms = []
    for device in ("@numpy", "@strict:0"):
        model = chainer.Link(a=(2,), b=(3,))
        model.to_device(device)
        send = chainer.get_device(device).send
        model.a.grad = send(np.array([1, 0], "f"))
        model.b.grad = send(np.array([0, 0, 1], "f"))
        optimizer = O.SGD().setup(model)
        H.GradientClipping(threshold)(optimizer)
        host = chainer.get_device("@numpy").send
        norms.append([host(model.a.grad), host(model.b.grad)])
    np.testing.assert_allclose(norms[0][0], norms[1][0], rtol=1e-6)
    np.testing.assert_allclose(norms[0][1], norms[1][1], rtol=1e-6)


def test_clipping_of_nothing():
    model = chainer.Link(a=(2,))
    model.to_device("@strict:0")
    model.a.grad = chainer.get_device("@strict:0").send(np.zeros(2, "f"))
    H.GradientClipping(1.0)(O.SGD().setup(model))
    assert not chainer.get_device("@numpy").send(model.a.grad).any()


class GroupingSGD:
    """A kernel of ``sgd_update`` that updates many parameters at once."""

    calls: list = []

    def __init__(self, backend):
        pass

    def update_many(self, rows, scalars):
        self.calls.append(len(rows))
        for param, grad in rows:
            param -= scalars.lr * grad


@pytest.fixture
def grouping():
    kernel = Kernel(
        "sgd_update", "chainer_strict_backend.array:ndarray", "strict", load=GroupingSGD
    )
    register_kernel(kernel)
    GroupingSGD.calls = []
    yield GroupingSGD.calls
    registries.kernels.unregister(kernel.key)


def grouped_model(device="@strict:0"):
    model = chainer.Link(a=(2,), b=(3, 2), c=(4,))
    for i, param in enumerate(model.params()):
        param.array[...] = i
        param.grad = np.ones_like(param.array)
    model.to_device(device)
    return model


def values(model):
    send = chainer.get_device("@numpy").send
    return {name: float(send(param.array).ravel()[0]) for name, param in model.namedparams()}


def test_updates_of_one_kind_are_one_call(grouping):
    model = grouped_model()
    before = values(model)
    optimizer = O.SGD(0.5).setup(model)
    optimizer.add_hook(H.WeightDecay(0.0))
    optimizer.update()
    assert grouping == [3]
    assert values(model) == {name: value - 0.5 for name, value in before.items()}
    assert [param.update_rule.t for param in model.params()] == [1, 1, 1]


def test_hyperparameters_of_their_own_and_disabled_rules(grouping):
    model = grouped_model()
    before = values(model)
    optimizer = O.SGD(0.5).setup(model)
    model.a.update_rule.hyperparam.lr = 0.25
    model.b.update_rule.enabled = False
    optimizer.update()
    assert grouping == [1, 1]
    after = values(model)
    assert after["/a"] == before["/a"] - 0.25
    assert after["/b"] == before["/b"]
    assert after["/c"] == before["/c"] - 0.5


def test_hooks_after_an_update_come_right_after_it(grouping):
    model = grouped_model()
    optimizer = O.SGD(0.5).setup(model)
    seen = []
    model.a.update_rule.add_hook(lambda rule, param: seen.append(len(grouping)), "p", "post")
    optimizer.update()
    assert seen == [1]
    assert sorted(grouping) == [1, 2]


def test_rules_of_users_are_left_alone(grouping):
    from chainer.training.optimizers.sgd import SGDRule

    class Halved(SGDRule):
        def update_core(self, param):
            param.array[...] *= 0.5

    model = grouped_model()
    before = values(model)
    optimizer = O.SGD(0.5).setup(model)
    model.c.update_rule = Halved(optimizer.hyperparam)
    optimizer.update()
    assert grouping == [2]
    assert values(model)["/c"] == before["/c"] / 2


@pytest.mark.parametrize("hook", ["rule", "optimizer"])
def test_hooks_of_users_on_a_device(grouping, hook):
    seen = []

    class Own(H.WeightDecay):
        def __call__(self, rule, param):
            seen.append(type(param.grad).__name__)
            super().__call__(rule, param)

    model = grouped_model()
    optimizer = O.SGD(0.5).setup(model)
    if hook == "rule":
        model.b.update_rule.add_hook(Own(1.0))
    else:
        optimizer.add_hook(Own(1.0))
    optimizer.update()
    # A hook of a rule that may look at other parameters finds them updated.
    assert grouping == ([1, 1, 1] if hook == "rule" else [3])
    assert seen == ["ndarray"] * (1 if hook == "rule" else 3)
    decayed = {"/b": 1 - 0.5 * (1 + 1)}
    if hook == "optimizer":
        decayed.update({"/a": -0.5, "/c": 2 - 0.5 * (1 + 2)})
        assert values(model) == decayed
    assert values(model)["/b"] == decayed["/b"]


def test_hook_that_takes_a_gradient_away(grouping):
    model = grouped_model()
    before = values(model)
    optimizer = O.SGD(0.5).setup(model)
    model.a.update_rule.add_hook(lambda rule, param: param.cleargrad(), "clear")
    optimizer.update()
    assert grouping == [2]
    assert values(model)["/a"] == before["/a"]


def test_hooks_with_a_class_attribute_of_mocks(grouping):
    from unittest import mock

    model = grouped_model()
    optimizer = O.SGD(0.5).setup(model)
    hook = mock.MagicMock(timing="pre", call_for_each_param=True)
    optimizer.add_hook(hook, "hook")
    optimizer.update()
    assert hook.call_args_list == [mock.call(p.update_rule, p) for p in model.params()]
    hook.call_for_params.assert_not_called()


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        (H.GradientHardClipping(-0.25, 0.25), 1 - 0.25),
        (H.WeightDecay(0.5), 1 - 1.5),
        (H.Lasso(0.5), 1 - 1.5),
        (H.GradientClipping(0.5), 1 - 0.5),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("device", ["@numpy", "@strict:0"])
@pytest.mark.parametrize("in_float32", [False, True])
@pytest.mark.parametrize("by_optimizer", [False, True])
def test_hooks_refer_to_the_true_gradient(hook, expected, device, in_float32, by_optimizer):
    model = chainer.Link()
    with model.init_scope():
        model.p = chainer.Parameter(np.ones(1, np.float16))
    model.p.grad = np.full(1, 8, np.float16)
    model.p.loss_scale = 8.0
    model.to_device(device)
    optimizer = O.SGD(1.0)
    if in_float32:
        optimizer.use_fp32_update()
    optimizer.setup(model)
    if by_optimizer:
        optimizer.add_hook(hook)
        optimizer.update()
    else:  # as an update() of a program does, which does not divide before the hooks
        optimizer.call_hook(hook)
        model.p.update()
    assert values(model)["/p"] == expected


@pytest.mark.parametrize("in_float32", [False, True])
def test_dynamic_loss_scaling_on_a_device(in_float32):
    from chainer_strict_backend import count_transfers

    model = chainer.Link()
    with model.init_scope():
        model.a = chainer.Parameter(np.ones(2, np.float16))
        model.b = chainer.Parameter(np.ones(3, np.float16))
        model.lazy = chainer.Parameter(0)
    model.to_device("@strict:0")
    optimizer = O.SGD(0.5)
    if in_float32:
        optimizer.use_fp32_update()
    optimizer.setup(model).loss_scaling(interval=2)

    def update(factor):
        for param in model.params(include_uninit=False):
            param.grad = param.array * np.float16(factor)
            param.loss_scale = optimizer._loss_scale
        optimizer.update()

    update(1)
    with count_transfers() as transfers:
        update(2)
    assert transfers.total <= 1  # whether all gradients are finite
    assert optimizer._loss_scale == 4
    with pytest.warns(UserWarning, match=r"of /[ab] \(iteration: 2, loss_scale: 4") as caught:
        update(np.inf)
    assert [str(w.message).split()[7] for w in caught] == ["/a", "/b"]
    assert optimizer._loss_scale == 2
    del model.lazy
    assert values(model) == {"/a": 1 - 0.5 - 0.25, "/b": 1 - 0.5 - 0.25}


def test_state_follows_the_parameter():
    model = chainer.Link(p=(2,))
    model.p.array[...] = 0
    optimizer = O.MomentumSGD(1.0, 0.5).setup(model)
    for device in ("@numpy", "@strict:0", "@strict:1", "@numpy"):
        model.to_device(device)
        with model.p.device:
            model.p.grad = model.p.array * 0 + 1
        optimizer.update()
        state = model.p.update_rule.state["v"]
        assert chainer.backend.get_device_from_array(state) == chainer.get_device(device)
    np.testing.assert_array_equal(state, [-1.875, -1.875])


def test_loss_scale_and_float32_updates(grouping):
    model = chainer.Link()
    with model.init_scope():
        model.a = chainer.Parameter(np.ones(2, "f"))
        model.h = chainer.Parameter(np.ones(2, np.float16))
    for param in model.params():
        param.grad = np.full_like(param.array, 8)
        param.loss_scale = 8.0
    model.to_device("@strict:0")
    optimizer = O.SGD(0.5)
    optimizer.use_fp32_update()
    optimizer.setup(model)
    optimizer.update()
    assert values(model) == {"/a": 0.5, "/h": 0.5}
