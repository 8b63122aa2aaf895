"""Optimizers of recent years against the formulas of their papers, in float64."""

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer import optimizers, testing
from chainer.training.optimizers.muon import orthogonalized


def moments(state, grad, t, beta1, beta2):
    state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * grad
    state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * grad**2
    return state["m"] / (1 - beta1**t), state["v"] / (1 - beta2**t)


class TestLion(testing.OptimizerTestCase):
    def create_optimizer(self):
        return optimizers.Lion(lr=0.01, beta1=0.9, beta2=0.99, weight_decay_rate=0.1)

    def update_expected(self, param, grad, state, t):
        m = state.get("m", 0)
        state["m"] = 0.99 * m + 0.01 * grad
        return param - 0.01 * (np.sign(0.9 * m + 0.1 * grad) + 0.1 * param)


class TestLAMB(testing.OptimizerTestCase):
    def create_optimizer(self):
        return optimizers.LAMB(0.05, 0.9, 0.99, 1e-6, 0.1)

    def update_expected(self, param, grad, state, t):
        m, v = moments(state, grad, t, 0.9, 0.99)
        r = m / (np.sqrt(v) + 1e-6) + 0.1 * param
        sizes = np.linalg.norm(param), np.linalg.norm(r)
        return param - 0.05 * (sizes[0] / sizes[1] if min(sizes) > 0 else 1.0) * r


class TestRAdam(testing.OptimizerTestCase):
    steps = 8  # the sixth is the first that is adaptive

    def create_optimizer(self):
        return optimizers.RAdam(0.05, 0.9, 0.9, 1e-8, 0.1)

    def update_expected(self, param, grad, state, t):
        m, v = moments(state, grad, t, 0.9, 0.9)
        longest = 2 / (1 - 0.9) - 1
        rho = longest - 2 * t * 0.9**t / (1 - 0.9**t)
        param = param - 0.05 * 0.1 * param
        if rho <= 4:
            return param - 0.05 * m
        r = np.sqrt((rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho))
        return param - 0.05 * r * m / (np.sqrt(v) + 1e-8 / np.sqrt(1 - 0.9**t))


class TestNAdam(testing.OptimizerTestCase):
    def create_optimizer(self):
        return optimizers.NAdam(0.05, 0.9, 0.99, 1e-8, 0.004, 0.1)

    def update_expected(self, param, grad, state, t):
        mu = [0.9 * (1 - 0.5 * 0.96 ** (i * 0.004)) for i in range(1, t + 2)]
        _, v = moments(state, grad, t, 0.9, 0.99)
        m = mu[-1] * state["m"] / (1 - np.prod(mu)) + (1 - mu[-2]) * grad / (1 - np.prod(mu[:-1]))
        return param - 0.05 * 0.1 * param - 0.05 * m / (np.sqrt(v) + 1e-8)


class TestAdafactor(testing.OptimizerTestCase):
    convergence_steps = 200  # the steps are relative to the parameters, and small

    def create_optimizer(self):
        return optimizers.Adafactor(weight_decay_rate=0.1)

    def update_expected(self, param, grad, state, t):
        beta = 1 - t**-0.8
        square = grad**2 + 1e-30
        if grad.ndim < 2:
            state["v"] = v = beta * state.get("v", 0) + (1 - beta) * square
        else:
            square = square.reshape(len(square), -1)
            state["r"] = beta * state.get("r", 0) + (1 - beta) * square.sum(1)
            state["c"] = beta * state.get("c", 0) + (1 - beta) * square.sum(0)
            v = (np.outer(state["r"], state["c"]) / state["r"].sum()).reshape(grad.shape)
        u = grad / np.sqrt(v)
        u /= max(1, np.sqrt((u**2).mean()) / 1.0)
        alpha = max(1e-3, np.sqrt((param**2).mean())) * min(1e-2, 1 / np.sqrt(t))
        return param - alpha * u - alpha * 0.1 * param


class TestMuon(testing.OptimizerTestCase):
    def create_optimizer(self):
        return optimizers.Muon(0.05, 0.9, weight_decay_rate=0.1, adam_lr=0.02)

    def update_expected(self, param, grad, state, t):
        if grad.ndim < 2:
            m, v = moments(state, grad, t, 0.9, 0.95)
            return param - 0.02 * (m / (np.sqrt(v) + 1e-8) + 0.1 * param)
        state["b"] = b = 0.9 * state.get("b", 0) + grad
        matrix = (grad + 0.9 * b).reshape(len(grad), -1)
        # The polynomial acts on the singular values.
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
        s = s / (np.sqrt((s**2).sum()) + 1e-7)
        for _ in range(5):
            s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
        update = ((u * s) @ vt).reshape(grad.shape)
        scale = np.sqrt(max(1, matrix.shape[0] / matrix.shape[1]))
        return param - 0.05 * (scale * update + 0.1 * param)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_orthogonalized(shape):
    matrix = np.random.RandomState(0).randn(*shape)
    singular = np.linalg.svd(orthogonalized(np, matrix, 10), compute_uv=False)
    assert ((singular > 0.6) & (singular < 1.3)).all()


ALL = [
    optimizers.Lion,
    optimizers.LAMB,
    optimizers.RAdam,
    optimizers.NAdam,
    optimizers.Adafactor,
    optimizers.Muon,
]


@pytest.mark.parametrize("device", ["@numpy", "@strict"])
@pytest.mark.parametrize("make", ALL)
def test_float16_is_computed_in_float32(make, device):
    model = chainer.Link()
    with model.init_scope():
        model.W = chainer.Parameter(np.full((2, 3), 0.01, np.float16))
        model.empty = chainer.Parameter(np.ones((0, 3), np.float16))
        model.scalar = chainer.Parameter(np.full((), 0.01, np.float16))
    model.to_device(device)
    optimizer = make().setup(model)
    for _ in range(3):
        for param in model.params():
            param.grad = param.xp.full_like(param.array, 0.5)
        optimizer.update()
    model.to_device("@numpy")
    for param in (model.W, model.scalar):
        assert param.dtype == np.float16 and np.isfinite(param.array).all()
        assert (param.array < np.float16(0.01)).all()
        states = dict(param.update_rule.state)
        states.pop("mu_product", None)  # of NAdam: a number of Python's precision
        assert all(s.dtype == np.float32 for s in states.values())


@pytest.mark.parametrize("make", ALL)
def test_a_layout_that_is_not_contiguous(make):
    results = []
    for transposed in (False, True):
        values = np.random.RandomState(0).randn(3, 4).astype(np.float32)
        array = values.T.copy().T if transposed else values
        link = chainer.Link()
        with link.init_scope():
            link.W = chainer.Parameter(array)
        optimizer = make().setup(link)
        link.W.grad = np.asarray(np.arange(12).reshape(3, 4) - 5, np.float32)
        optimizer.update()
        results.append(link.W.array)
    np.testing.assert_allclose(*results, rtol=1e-5)


def test_muon_updates_a_group_as_adam():
    model = chainer.Sequential(L.Linear(3, 3), L.Linear(3, 2))
    optimizer = optimizers.Muon(adam_lr=0.1).setup(model)
    optimizer.group(model[1], orthogonal=False)
    before = model[1].W.array.copy()
    for param in model.params():
        param.grad = np.ones_like(param.array)
    optimizer.update()
    np.testing.assert_allclose(before - model[1].W.array, 0.1, rtol=1e-5)
    assert model[0].W.update_rule.state["v"].size == 0


def test_memory_of_adafactor():
    model = L.Linear(30, 20)
    optimizer = optimizers.Adafactor().setup(model)
    model.W.grad = np.ones_like(model.W.array)
    model.b.grad = np.ones_like(model.b.array)
    optimizer.update()
    assert sum(a.size for a in model.W.update_rule.state.values()) == 50
