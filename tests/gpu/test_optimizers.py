"""Twenty steps of every optimizer give the same parameters on the GPU as on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks as H
from chainer import optimizers as O
from tests.gpu import place
from tests.training.optimizers.test_update_formulas import (
    CASES,
    IDS,
    STEPS,
    gradients,
    run_formula,
)

#: One of many elements, one of few, a scalar, an empty one.
SHAPES = [(40, 30), (7,), (), (0, 3)]


class Model(chainer.Link):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            for i, shape in enumerate(SHAPES):
                values = np.random.RandomState(i).uniform(-1, 1, shape)
                setattr(self, f"p{i}", chainer.Parameter(np.asarray(values, np.float32)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "kwargs", "step"), CASES, ids=IDS)
def test_formulas(name, kwargs, step, dtype, device):
    start = np.random.RandomState(0).standard_normal((3, 4)).astype(dtype)
    grads = list(gradients((3, 4), np.dtype(dtype).type))
    model = chainer.Link()
    with model.init_scope():
        model.W = chainer.Parameter(start.copy())
    model.to_device(device)
    optimizer = getattr(O, name)(**kwargs).setup(model)
    for g in grads:
        model.W.grad = device.send(np.asarray(g))
        optimizer.update()
    expected = run_formula(step, start.astype(np.float64), [g.astype(np.float64) for g in grads])
    tolerance = 1e-10 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(
        place.to_host(model.W.array), expected, rtol=tolerance, atol=tolerance
    )


def steps(optimizer, device, dtype, hooks=()):
    model = Model()
    for param in model.params():
        param.array = param.array.astype(dtype)
    model.to_device(device)
    optimizer.setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    random = np.random.RandomState(1)
    for _ in range(STEPS):
        for param in model.params():
            grad = np.asarray(random.uniform(-1, 1, param.shape), dtype)
            param.grad = device.send(grad)
        optimizer.update()
    return [place.to_host(param.array) for _, param in sorted(model.namedparams())]


def compare(make, device, dtype="float32", hooks=lambda: ()):
    expected = steps(make(), place.HOST, dtype, hooks())
    actual = steps(make(), device, dtype, hooks())
    tolerance = 2e-2 if dtype == "float16" else 1e-3
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance / 10)


@pytest.mark.parametrize(("name", "kwargs", "step"), CASES, ids=IDS)
def test_many_parameters(name, kwargs, step, device):
    compare(lambda: getattr(O, name)(**kwargs), device)


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [("SGD", {}), ("MomentumSGD", {}), ("Adam", {"eps": 1e-4}), ("RMSprop", {"eps": 1e-4})],
)
def test_float16(name, kwargs, device):
    compare(lambda: getattr(O, name)(**kwargs), device, "float16")


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_float32_update_of_float16(name, device):
    def make():
        optimizer = getattr(O, name)()
        optimizer.use_fp32_update()
        return optimizer

    compare(make, device, "float16")


HOOKS = {
    "WeightDecay": lambda: [H.WeightDecay(0.01)],
    "Lasso": lambda: [H.Lasso(0.01)],
    "GradientClipping": lambda: [H.GradientClipping(0.1)],
    "GradientHardClipping": lambda: [H.GradientHardClipping(-0.1, 0.1)],
    "GradientLARS": lambda: [H.GradientLARS()],
    "two": lambda: [H.WeightDecay(0.01), H.GradientClipping(1)],
}


@pytest.mark.parametrize("hooks", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("name", ["MomentumSGD", "Adam"])
def test_hooks(name, hooks, device):
    compare(getattr(O, name), device, hooks=hooks)


def network():
    np.random.seed(0)
    return L.Classifier(
        chainer.Sequential(
            L.Convolution2D(1, 4, 3), F.relu, L.BatchNormalization(4), L.Linear(64, 3)
        )
    )


@pytest.mark.parametrize("name", ["MomentumSGD", "Adam"])
def test_training_of_a_network(name, device):
    x = np.random.RandomState(2).uniform(-1, 1, (8, 1, 6, 6)).astype(np.float32)
    t = np.arange(8, dtype=np.int32) % 3
    losses = []
    for place_ in (place.HOST, device):
        model = network().to_device(place_)
        optimizer = getattr(O, name)().setup(model)
        found = []
        for _ in range(STEPS):
            optimizer.update(model, place_.send(x), place_.send(t))
            found.append(float(place.to_host(model.loss.array)))
        losses.append(found)
    np.testing.assert_allclose(losses[1], losses[0], rtol=5e-3, atol=1e-3)
    assert losses[1][-1] < losses[1][0]
