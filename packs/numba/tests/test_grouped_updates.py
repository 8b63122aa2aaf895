"""Optimizers update all parameters in host memory by one call of a kernel that can."""

from __future__ import annotations

import chainer
import numpy as np
import pytest

from chainer_numba import optimizer_updates

OPTIMIZERS = ["SGD", "MomentumSGD", "Adam", "AMSGrad", "AdaBound", "RMSprop", "RMSpropGraves"]


class Model(chainer.Link):
    def __init__(self):
        super().__init__()
        random = np.random.RandomState(0)
        with self.init_scope():
            for n in range(6):
                array = random.randn(3, n + 1).astype(np.float32)
                setattr(self, f"p{n}", chainer.Parameter(array))
        self.p5.array = np.asfortranarray(self.p5.array)  # the reference serves it

    def set_grads(self, random):
        for param in self.params():
            param.grad = random.randn(*param.shape).astype(np.float32)


@pytest.fixture
def calls(monkeypatch):
    """Numbers of parameters of the calls of kernels."""
    numbers = []
    update_many = optimizer_updates.UpdateKernel.update_many

    def counting(self, rows, scalars):
        numbers.append(len(rows))
        update_many(self, rows, scalars)

    monkeypatch.setattr(optimizer_updates.UpdateKernel, "update_many", counting)
    return numbers


def train(kernels, name, prepare):
    model = Model()
    optimizer = getattr(chainer.optimizers, name)().setup(model)
    prepare(model, optimizer)
    random = np.random.RandomState(1)
    with chainer.using_config("kernels", kernels):
        for _ in range(3):
            model.set_grads(random)
            optimizer.update()
    times = [param.update_rule.t for param in model.params()]
    states = [param.update_rule.state or {} for param in model.params()]
    arrays = [param.array for param in model.params()]
    return times, arrays + [a for state in states for a in state.values()]


def check(name, prepare):
    times, arrays = train(("numba",), name, prepare)
    expected_times, expected = train((), name, prepare)
    assert times == expected_times
    for a, b in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_one_call_for_all_contiguous_parameters(name, calls):
    check(name, lambda model, optimizer: None)
    assert calls == [5, 5, 5]


def test_hyperparameters_of_one_parameter(calls):
    def prepare(model, optimizer):
        model.p1.update_rule.hyperparam.alpha = 0.1

    check("Adam", prepare)
    assert calls == [4, 1] * 3


def test_rules_at_other_times(calls):
    def prepare(model, optimizer):
        model.p2.update_rule.t = 7

    check("Adam", prepare)
    assert calls == [4, 1] * 3


def test_disabled_rules_and_missing_gradients(calls):
    def prepare(model, optimizer):
        model.p0.update_rule.enabled = False
        model.p1.update_rule.add_hook(lambda rule, param: param.cleargrad(), "no gradient")

    check("MomentumSGD", prepare)
    assert calls == [3, 3, 3]


def test_hooks_before_and_after_the_update(calls):
    def halve(rule, param):
        param.grad *= 0.5

    def limit(rule, param):
        np.clip(param.array, -0.5, 0.5, out=param.array)

    def prepare(model, optimizer):
        model.p0.update_rule.add_hook(halve, "halve")
        model.p1.update_rule.add_hook(limit, "limit", timing="post")
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))

    check("SGD", prepare)
    # Hooks of rules may look at other parameters, which have to be updated before.
    assert calls == [1, 1, 3] * 3


def test_states_that_are_not_contiguous(calls):
    def prepare(model, optimizer):
        model.p3.update_rule._state = {"v": np.zeros((4, 3), np.float32).T}

    check("MomentumSGD", prepare)
    assert calls == [4, 4, 4]


def test_optimizers_that_compute_their_own_numbers(calls):
    class Optimizer(chainer.optimizers.SGD):
        @classmethod
        def scalars(cls, hyperparam, rule):
            return cls.operation.scalars(0.1 / rule.t)

    def prepare(model, optimizer):
        Optimizer().setup(model)

    check("SGD", prepare)
    assert calls == [5, 5, 5]
