"""Pickles of links and models made by releases 4.3.1 and 7.8.1."""

from __future__ import annotations

import pathlib
import pickle
import zipfile

import numpy as np
import pytest

import chainer
import chainer.links as L
from tests.links import link_cases
from tests.links.link_cases import CASES

DATA = pathlib.Path(__file__).parent / "data"
OUTPUTS = np.load(DATA / "upstream_links.npz")
RELEASES = ("4.3.1", "7.8.1")
ARCHIVES = {
    release: zipfile.ZipFile(DATA / f"upstream_pickles_{release}.zip") for release in RELEASES
}

releases = pytest.mark.parametrize("release", RELEASES)


def restore(release, name):
    return pickle.loads(ARCHIVES[release].read(name))


def cases(lazy=False):
    rows = [
        pytest.param(release, case, id=f"{release}-{case.name}")
        for release in RELEASES
        for case in CASES
        if case.name + "/lazy" * lazy in ARCHIVES[release].namelist()
    ]
    assert len(rows) > (40 if lazy else 120)
    return pytest.mark.parametrize(("release", "case"), rows)


@cases()
def test_links(release, case):
    link = restore(release, case.name)
    assert type(link) is type(case.make(L))
    outputs, gradients = link_cases.run(case, link, chainer.Variable)
    for kind, actual in (("outputs", outputs), ("inputs", gradients)):
        expected = OUTPUTS[f"{kind}/{case.name}"]
        np.testing.assert_allclose(link_cases.joined(actual), expected, rtol=1e-4, atol=2e-5)
    assert str(link).startswith(type(link).__name__ + "(")
    assert dict(link.copy("copy").namedparams()).keys() == dict(link.namedparams()).keys()


@cases(lazy=True)
def test_links_without_sizes(release, case):
    link = restore(release, f"{case.name}/lazy")
    str(link)
    np.random.seed(0)
    with chainer.using_config("train", False):
        case.call(link, *case.inputs)
    assert all(param.is_initialized for param in link.params())


@releases
class TestModel:
    def test_structure(self, release):
        model = restore(release, "model")
        assert [path for path, _ in model.namedlinks()] == [
            *("/", "/first", "/items", "/items/0", "/items/1"),
            *("/layers", "/layers/0", "/layers/1"),
        ]
        assert list(model._persistent) == ["count"] and model.count == 3
        assert model.first.name == "first"
        assert model.layers[1] is chainer.functions.relu
        assert model.other["text"] == "kept"
        variable = model.other["variable"]
        assert (variable.name, variable.array.tolist()) == ("v", [1, 1])

    def test_parameters(self, release):
        model = restore(release, "model")
        assert (model.first.W.grad == 1).all()
        assert model.first.b.grad is None
        assert model.items[1].W.array is None
        assert isinstance(model.scale.initializer, chainer.initializers.Normal)
        before = model.scale.array.copy()
        assert not np.array_equal(model.copy("init").scale.array, before)

    def test_use(self, release, tmp_path):
        model = restore(release, "model")
        y = model.layers(model.first(np.ones((4, 3), np.float32)))
        model.items[1](np.ones((1, 2, 4, 4), np.float32))
        chainer.functions.sum(y * np.arange(2, dtype=np.float32)).backward()
        with model.init_scope():
            model.more = L.Linear(2, 2)
        assert "/more/W" in dict(model.namedparams())
        chainer.serializers.save_npz(tmp_path / "model", model)
        assert model.to_device("@numpy") is model

    def test_update_rules(self, release):
        model = restore(release, "model")
        param = model.first.W
        rule = param.update_rule
        assert rule.hyperparam.lr == 0.1
        np.testing.assert_allclose(rule.state["v"], -0.1, rtol=1e-6)
        array = param.array.copy()
        calls = []
        rule.add_hook(lambda rule, param: calls.append(param), name="hook")
        param.update()  # v = 0.9 v - 0.1 grad
        np.testing.assert_allclose(param.array, array - 0.19, rtol=1e-5)
        assert rule.t == 2 and calls == [param]


def test_link_hooks():
    link = restore("7.8.1", "hooked")
    assert list(link.local_link_hooks) == ["SpectralNormalization"]
    with chainer.using_config("train", False):
        y = link(link_cases.X2)
    assert isinstance(link.W, chainer.Parameter)
    sigma = np.linalg.svd(link.W.array)[1][0]
    expected = link_cases.X2 @ link.W.array.T * (link.gamma.array / sigma)
    np.testing.assert_allclose(y.array, expected, rtol=0.05)


def test_devices():
    from chainer.backends._cpu import CpuDevice

    assert CpuDevice() == chainer.get_device("@numpy")
    assert pickle.loads(pickle.dumps(CpuDevice())) == CpuDevice()
    assert hash(CpuDevice()) == hash(chainer.get_device("@numpy"))


class TestFunctionsThatPicklesCall:
    def test_variable(self):
        array, grad = np.ones(2, np.float32), np.zeros(2, np.float32)
        for rest in ((), (chainer.get_device("@numpy"),)):
            variable = chainer.variable._create_variable(array, "x", grad, False, *rest)
            assert variable.array is array and variable.grad is grad
            assert (variable.name, variable.requires_grad) == ("x", False)

    @pytest.mark.parametrize("length", [5, 6, 7])
    def test_parameter(self, length):
        one, device = chainer.initializers.One(), chainer.get_device("@numpy")
        rest = {5: (one, None), 6: (one, None, device), 7: (True, one, None, device)}[length]
        array, grad = np.ones(2, np.float32), np.zeros(2, np.float32)
        param = chainer.variable._recover_parameter(array, "p", grad, *rest)
        assert type(param) is chainer.Parameter
        assert param.array is array and param.grad is grad and param.initializer is one
        param = chainer.variable._recover_parameter(None, "p", None, *rest)
        assert (param.name, param.array) == ("p", None)
        param.initialize(3)
        assert param.array.tolist() == [1, 1, 1]
        # Only release 7 tells that the gradient was cleared.
        assert (param.grad is None) == (length == 7)
