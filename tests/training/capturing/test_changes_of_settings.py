"""Captured steps notice changes to optimizers, links and configuration, however they are made."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import optimizers
from chainer.core.change_number import ChangeNumber

STEPS = 10


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(4, 5, initialW=chainer.initializers.LeCunNormal(rng=rng(1)))
            self.l2 = L.Linear(5, 2, initialW=chainer.initializers.LeCunNormal(rng=rng(2)))

    def forward(self, x):
        return self.l2(F.dropout(F.tanh(self.l1(x)), 0.5))


def rng(seed):
    return np.random.RandomState(seed)


def update_alone(model, optimizer):
    W = model.l1.W
    W.grad = np.ones_like(W.array)
    W.update_rule.update(W)
    W.cleargrad()


def replace_state(model, optimizer):
    state = model.l1.W.update_rule.state
    state["m"] = np.ones_like(state["m"])


def replace_child(model, optimizer):
    # Client libraries do so.
    vars(model)["l2"] = other = L.Linear(5, 2, initialW=np.ones((2, 5), "f"))
    other.name = "l2"
    for parameter in other.params():
        parameter.update_rule = optimizer.create_update_rule()


def set_hyperparameter(model, optimizer):
    optimizer.hyperparam.beta1 = 0.5


def set_own_hyperparameter(model, optimizer):
    model.l1.b.update_rule.hyperparam.eps = 1e-3


def set_hyperparameter_object(model, optimizer):
    rule = model.l1.b.update_rule
    other = type(rule.hyperparam)(optimizer.hyperparam)
    other.alpha = 0.5
    rule.hyperparam = other


def freeze(model, optimizer):
    model.l2.b.update_rule.enabled = False


def set_count(model, optimizer):
    model.l1.W.update_rule.t = 20


def add_hook_to_rule(model, optimizer):
    model.l1.W.update_rule.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))


def add_hook(model, optimizer):
    optimizer.add_hook(chainer.optimizer_hooks.Lasso(0.1))


def set_up_again(model, optimizer):
    optimizer.setup(model)


def load(model, optimizer):
    class Halves(chainer.Deserializer):
        def __getitem__(self, key):
            return self

        def __call__(self, key, value):
            return value * 0.5 if isinstance(value, np.ndarray) else value

    optimizer.serialize(Halves())


CHANGES = [
    *(update_alone, replace_state, replace_child, set_hyperparameter, set_own_hyperparameter),
    *(set_hyperparameter_object, freeze, set_count, add_hook_to_rule, add_hook, set_up_again, load),
]


def run(change, is_captured):
    np.random.seed(0)
    model = Model()
    optimizer = optimizers.Adam(0.01).setup(model)

    def written(x):
        loss = F.sum(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    step = chainer.capture(written, model, optimizer) if is_captured else written
    losses = []
    for i in range(STEPS):
        if i in (4, 7):  # once after the comparison, once after repetitions
            change(model, optimizer)
        losses.append(float(step(rng(i).randn(3, 4).astype("f")).array))
    return losses, [p.array.copy() for p in model.params()]


@pytest.mark.parametrize("change", CHANGES, ids=[change.__name__ for change in CHANGES])
@pytest.mark.filterwarnings("ignore:.*cannot be captured:UserWarning")
def test_changes_between_calls(change):
    if change in (add_hook, add_hook_to_rule):
        seen = []

        def once(model, optimizer):
            if optimizer not in seen:
                seen.append(optimizer)
                change(model, optimizer)

        results = [run(once, is_captured) for is_captured in (False, True)]
    else:
        results = [run(change, is_captured) for is_captured in (False, True)]
    assert results[0][0] == results[1][0]
    for expected, found in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "context",
    [
        lambda: chainer.using_config("train", False),
        lambda: chainer.no_backprop_mode(),
        lambda: chainer.using_config("dtype", np.float64),
    ],
    ids=["train", "no_backprop_mode", "dtype"],
)
def test_configuration_of_a_block(context):
    model = Model()
    step = chainer.capture(lambda x: model(x), model, on_failure="error")
    x = rng(0).randn(3, 4).astype("f")
    found, expected = [], []
    for results, function in ((expected, model), (found, step)):
        np.random.seed(5)
        for i in range(STEPS):
            if i % 3 == 2:
                with context():
                    results.append(function(x).array.copy())
            else:
                results.append(function(x).array.copy())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_configuration_of_another_thread():
    model = Model()
    step = chainer.capture(lambda x: model(x), model, on_failure="error")
    x = rng(0).randn(3, 4).astype("f")
    for _ in range(5):
        step(x)

    def infer():
        with chainer.using_config("train", False):
            results.extend([step(x).array.copy() for _ in range(4)])

    results = []
    thread = threading.Thread(target=infer)
    thread.start()
    thread.join()
    with chainer.using_config("train", False):
        expected = model(x).array
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_the_process_wide_configuration():
    model = Model()
    step = chainer.capture(lambda x: model(x), model, on_failure="error")
    x = rng(0).randn(3, 4).astype("f")
    for _ in range(5):
        step(x)
    chainer.global_config.train = False
    try:
        np.testing.assert_array_equal(step(x).array, model(x).array)
        np.testing.assert_array_equal(step(x).array, model(x).array)
    finally:
        chainer.global_config.train = True


def test_a_change_between_two_looks_is_never_lost():
    """Whoever finds its own number one above the last one knows that nobody came between."""
    changes = ChangeNumber()
    before = changes.value
    assert changes.renew() == before + 1
    other = changes.renew()
    assert changes.renew() == other + 1 != before + 2
