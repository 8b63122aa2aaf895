"""The contract as links, optimizers and serializers see it."""

# pyright: basic
# ruff: noqa: D103
from __future__ import annotations

import copy
from contextlib import contextmanager

import numpy as np
import pytest

from chainer.core.arrays.backend import get_backend, get_device
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import threads, using_config
from chainer.core.registry import registries
from chainer.links.chain import Chain
from chainer.testing.conformance.contract import assert_equal, assert_on_device, values
from chainer.testing.serializer import save_and_load_npz
from chainer.training.dataset.convert import concat_examples


class _Model(Chain):
    def __init__(self):
        super().__init__()
        links = registries.links
        rng = np.random.default_rng(0)
        W1, W2 = (rng.uniform(-1, 1, shape).astype("f") for shape in ((4, 3), (2, 4)))
        with self.init_scope():
            self.l1 = links.get("Linear")(3, 4, nobias=True, initialW=W1)  # bn takes it away
            self.bn = links.get("BatchNormalization")(4)
            self.l2 = links.get("Linear")(None, 2, initialW=W2)

    def forward(self, x):
        return self.l2(registries.functions.get("tanh")(self.bn(self.l1(x))))


def _loss(model, x, t):
    return registries.functions.get("softmax_cross_entropy")(model(x), t)


def _examples():
    rng = np.random.default_rng(1)
    return rng.uniform(-1, 1, (8, 3)).astype("f"), (np.arange(8) % 2).astype("i")


def _trained(device, optimizer, steps=5):
    """Returns the parameters after some updates, and the losses, as host values."""
    model = _Model().to_device(device)
    optimizer.setup(model)
    optimizer.add_hook(registries.optimizer_hooks.get("WeightDecay")(0.01))
    optimizer.add_hook(registries.optimizer_hooks.get("GradientClipping")(1.0))
    x, t = device.send(_examples())
    losses = []
    for _ in range(steps):
        loss = _loss(model, x, t)
        model.cleargrads()
        loss.backward()
        losses.append(float(loss.array))
        optimizer.update()
    for param in model.params():
        assert_on_device(param, device)
    model.to_device("@numpy")
    return {name: param.array for name, param in model.namedparams()}, losses


@contextmanager
def _reference_kernels(pytestconfig):
    """Inside the block the kernels of the provider under test serve no call."""
    provider = pytestconfig.getoption("--chainer-provider")
    switch = None if provider is None else threads.state.policy.switch_of(provider)
    name, value = ("kernels", ()) if switch is None else (switch, "never")
    with using_config(name, value):
        yield


def test_links_move(device):
    model = _Model()
    model(device_free := values(shape=(4, 3)))
    model.cleargrads()
    model.l1.W.grad = np.ones_like(model.l1.W.array)
    before = {name: param.array.copy() for name, param in model.namedparams()}
    assert model.to_device(device) is model
    assert model.device == device
    assert model.xp is device.xp
    for name, param in model.namedparams():
        assert param.device == device, name
        assert_equal(param, before[name])
    for array in (model.l1.W.grad, model.bn.avg_mean, model.bn.avg_var):
        assert_on_device(array, device)
    assert_on_device(model(device.send(device_free)), device)
    model.to_device("@numpy")
    assert model.device == get_device("@numpy")
    assert {type(param.array) for param in model.params()} == {np.ndarray}


def test_sizes_found_out_later_are_on_the_device(device):
    model = _Model().to_device(device)
    assert model.l2.W.array is None
    model(device.send(values(shape=(4, 3))))
    assert model.l2.W.device == device


def test_links_are_copied(device):
    model = _Model().to_device(device)
    x = device.send(values(shape=(4, 3)))
    y = model(x)
    for clone in (copy.deepcopy(model), model.copy(mode="copy")):
        assert clone.device == device
        assert_equal(clone(x), np.asarray(device.backend.to_host(y.array)), rtol=1e-5)
        with device:
            for copied in (clone.l1.W.array, clone.bn.avg_mean):
                copied[...] = copied * 0 + 9
        assert_equal(model(x), device.backend.to_host(y.array), rtol=1e-5)


def test_links_refuse_host_inputs(backend, device):
    model = _Model().to_device(device)
    x = values(shape=(4, 3))
    if backend.family == get_backend("numpy").family:
        assert_on_device(model(x), device)
        return
    with pytest.raises(TypeError, match="incompatible array types are mixed"):
        model(x)


def test_outputs_are_those_of_the_host(device, pytestconfig):
    x, t = _examples()
    for train in (True, False):
        with using_config("train", train):
            with _reference_kernels(pytestconfig):
                host = _loss(_Model(), x, t)
            there = _loss(_Model().to_device(device), *device.send((x, t)))
        assert_on_device(there, device)
        assert_equal(there, host.array, rtol=1e-4)


@pytest.mark.parametrize("name", ["SGD", "MomentumSGD", "Adam", "RMSprop", "AdaGrad"])
def test_optimizers_train_as_on_the_host(device, pytestconfig, name):
    create = registries.optimizers.get(name)
    with _reference_kernels(pytestconfig):
        expected, _ = _trained(get_device("@numpy"), create())
    params, losses = _trained(device, create())
    assert losses[-1] < losses[0]
    for path, param in params.items():
        np.testing.assert_allclose(param, expected[path], rtol=1e-3, atol=1e-4, err_msg=path)


def test_every_optimizer_updates(device):
    registries.optimizers.load_all()
    for entry in registries.optimizers.entries():
        if not str(entry.target).startswith("chainer."):
            continue  # of other packs, which test their own
        name = entry.name
        _, losses = _trained(device, registries.optimizers.get(name)(), steps=2)
        assert all(map(np.isfinite, losses)), name


def test_optimizer_states_follow_the_parameters(device):
    model = _Model()
    optimizer = registries.optimizers.get("Adam")().setup(model)
    x, t = _examples()
    optimizer.update(_loss, model, x, t)
    model.to_device(device)
    optimizer.update(_loss, model, *device.send((x, t)))
    for param in model.params():
        for state in param.update_rule.state.values():
            assert_on_device(state, device)


def test_models_are_saved_and_loaded(device):
    model = _Model().to_device(device)
    x = device.send(values(shape=(4, 3)))
    model(x)
    with using_config("train", False):
        expected = device.backend.to_host(model(x).array)
    on_host, there = _Model(), _Model().to_device(device)
    save_and_load_npz(model, on_host)
    save_and_load_npz(on_host, there)
    assert there.device == device
    for param in there.params():
        assert_on_device(param, device)
    with using_config("train", False):
        assert_equal(on_host(values(shape=(4, 3))), expected, rtol=1e-4)
        assert_equal(there(x), expected, rtol=1e-5)


def test_optimizers_are_saved_and_loaded(device):
    model = _Model().to_device(device)
    optimizer = registries.optimizers.get("MomentumSGD")().setup(model)
    examples = device.send(_examples())
    optimizer.update(_loss, model, *examples)
    other = _Model().to_device(device)
    restored = registries.optimizers.get("MomentumSGD")().setup(other)
    save_and_load_npz(model, other)
    save_and_load_npz(optimizer, restored)
    for one, link in ((optimizer, model), (restored, other)):
        one.update(_loss, link, *examples)
    for a, b in zip(model.params(), other.params(), strict=True):
        assert_on_device(b, device)
        assert_equal(b, device.backend.to_host(a.array), rtol=1e-6)


def test_batches_are_made_on_the_device(device):
    batch = [(values(shape=(3,)), np.int32(1)), (values(shape=(3,)) + 1, np.int32(0))]
    x, t = concat_examples(batch, device)
    assert_on_device(x, device)
    assert_on_device(t, device)
    assert_equal(x, [[0, 1, 2], [1, 2, 3]])
    assert_equal(t, [1, 0])


def test_losses_are_reported_as_numbers(device, array):
    summary = registries.links.get("Classifier")(
        lambda x: x, lossfun=lambda y, t: registries.functions.get("mean")(y), accfun=None
    )
    summary.compute_accuracy = False
    loss = summary(Variable(array), device.send(np.zeros(2, "i")))
    assert float(loss.array) == pytest.approx(2.5)
