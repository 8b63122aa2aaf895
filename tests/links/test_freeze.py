"""Frozen parameters: no gradient, no update, no weight decay."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizer_hooks, optimizers

HOOKS = {
    "decay": lambda: optimizer_hooks.WeightDecay(0.1),
    "clipping": lambda: optimizer_hooks.GradientClipping(1.0),
    "hard clipping": lambda: optimizer_hooks.GradientHardClipping(-1, 1),
    "lasso": lambda: optimizer_hooks.Lasso(0.1),
    "noise": lambda: optimizer_hooks.GradientNoise(0.1),
    "lars": lambda: optimizer_hooks.GradientLARS(),
}


def make_model():
    return chainer.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2))


def step(model, optimizer):
    x = np.random.randn(5, 3).astype(np.float32)
    optimizer.update(lambda: F.sum(model(x) ** 2))


@pytest.mark.parametrize("frozen_first", [True, False])
@pytest.mark.parametrize("hook", [None, *HOOKS])
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "MomentumSGD", "Lion"])
def test_frozen_parameters_stay(name, hook, frozen_first):
    model = make_model()
    if frozen_first:
        assert model[0].freeze() is model[0]
    kwargs = {"weight_decay_rate": 0.1} if name == "AdamW" else {}
    optimizer = getattr(optimizers, name)(**kwargs).setup(model)
    if hook is not None:
        optimizer.add_hook(HOOKS[hook]())
    if not frozen_first:
        step(model, optimizer)
        model[0].freeze()
    frozen = [p.array.copy() for p in model[0].params()]
    trained = model[2].W.array.copy()
    step(model, optimizer)
    for old, p in zip(frozen, model[0].params(), strict=True):
        np.testing.assert_array_equal(old, p.array)
        assert p.grad is None
    assert not np.array_equal(trained, model[2].W.array)


def test_unfrozen_parameters_are_updated_again():
    model = make_model()
    optimizer = optimizers.SGD().setup(model.freeze())
    before = model[0].W.array.copy()
    model.unfreeze()
    step(model, optimizer)
    assert not np.array_equal(before, model[0].W.array)
    assert model[0].W.grad is not None


def test_a_graph_that_exists_keeps_its_gradients():
    W = chainer.Parameter(np.ones(2, np.float32))
    y = F.sum(W * 2)
    W.requires_grad = False
    z = F.sum(W * 3)
    assert not z.requires_grad
    y.backward()
    W.requires_grad = True
    W.cleargrad()
    F.sum(W * 3).backward()
    np.testing.assert_array_equal(W.grad, [3, 3])


def test_uninitialized_parameters_can_be_frozen():
    model = L.Linear(None, 2).freeze()
    y = model(np.ones((1, 3), np.float32))
    assert not y.requires_grad
    assert model.W.grad is None
