"""Every optimizer against the formula of its paper, here in the plainest NumPy, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from chainer.core.autograd.parameter import Parameter
from chainer.links.link import Link
from chainer.training import optimizers as O

STEPS = 20
SHAPE = (3, 4)


def sgd(lr=0.01):
    def step(p, g, t, s):
        return p - lr * g

    return step


def momentum_sgd(lr=0.01, momentum=0.9):
    def step(p, g, t, s):
        s["v"] = momentum * s.get("v", 0) - lr * g
        return p + s["v"]

    return step


def corrected_momentum_sgd(lr=0.01, momentum=0.9):
    def step(p, g, t, s):
        s["v"] = momentum * s.get("v", 0) - g
        return p + lr * s["v"]

    return step


def nesterov_ag(lr=0.01, momentum=0.9):
    def step(p, g, t, s):
        # The velocity moves y; the parameters are y + (momentum + momentum ** 2) * v, two steps
        # ahead of it.
        y = s.get("y", p)
        v = momentum * s.get("v", np.zeros_like(p)) - lr * g
        s["y"], s["v"] = y + v, v
        return s["y"] + (momentum + momentum**2) * v

    return step


def ada_grad(lr=0.001, eps=1e-8):
    def step(p, g, t, s):
        s["h"] = s.get("h", 0) + g**2
        return p - lr * g / (np.sqrt(s["h"]) + eps)

    return step


def ada_delta(rho=0.95, eps=1e-6):
    def step(p, g, t, s):
        s["g2"] = rho * s.get("g2", 0) + (1 - rho) * g**2
        dx = -np.sqrt(s.get("x2", 0) + eps) / np.sqrt(s["g2"] + eps) * g
        s["x2"] = rho * s.get("x2", 0) + (1 - rho) * dx**2
        return p + dx

    return step


def adam(
    alpha=0.001, beta1=0.9, beta2=0.999, eps=1e-8, eta=1.0, weight_decay_rate=0.0,
    amsgrad=False, final_lr=None, gamma=1e-3,
):  # fmt: skip
    def step(p, g, t, s):
        s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
        s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g**2
        v = s["v"]
        if amsgrad:
            s["vhat"] = v = np.maximum(s.get("vhat", 0), v)
        rate = alpha * np.sqrt(1 - beta2**t) / (1 - beta1**t) / (np.sqrt(v) + eps)
        if final_lr is not None:
            rate = np.clip(
                rate, final_lr * (1 - 1 / (gamma * t + 1)), final_lr * (1 + 1 / (gamma * t))
            )
        return p - eta * (rate * s["m"] + weight_decay_rate * p)

    return step


def rmsprop(lr=0.01, alpha=0.99, eps=1e-8, eps_inside_sqrt=False):
    def step(p, g, t, s):
        s["ms"] = alpha * s.get("ms", 0) + (1 - alpha) * g**2
        root = np.sqrt(s["ms"] + eps) if eps_inside_sqrt else np.sqrt(s["ms"]) + eps
        return p - lr * g / root

    return step


def rmsprop_graves(lr=1e-4, alpha=0.95, momentum=0.9, eps=1e-4):
    def step(p, g, t, s):
        s["n"] = alpha * s.get("n", 0) + (1 - alpha) * g**2
        s["g"] = alpha * s.get("g", 0) + (1 - alpha) * g
        s["d"] = momentum * s.get("d", 0) - lr * g / np.sqrt(s["n"] - s["g"] ** 2 + eps)
        return p + s["d"]

    return step


def smorms3(lr=0.001, eps=1e-16):
    def step(p, g, t, s):
        mem = s.get("mem", 1.0)
        r = 1 / (mem + 1)
        s["g"] = (1 - r) * s.get("g", 0) + r * g
        s["g2"] = (1 - r) * s.get("g2", 0) + r * g**2
        x = s["g"] ** 2 / (s["g2"] + eps)
        s["mem"] = 1 + mem * (1 - x)
        return p - g * np.minimum(lr, x) / (np.sqrt(s["g2"]) + eps)

    return step


def msvag(lr=0.1, beta=0.9, eta=1.0, weight_decay_rate=0.0):
    def step(p, g, t, s):
        s["m"] = beta * s.get("m", 0) + (1 - beta) * g
        s["v"] = beta * s.get("v", 0) + (1 - beta) * g**2
        m, v = s["m"] / (1 - beta**t), s["v"] / (1 - beta**t)
        rho = (1 - beta) * (1 + beta**t) / ((1 + beta) * (1 - beta**t))
        with np.errstate(invalid="ignore", divide="ignore"):
            factor = m**2 / (m**2 + rho * (v - m**2) / (1 - rho))
        # Of a single gradient the variance is unknown (rho is one), and where m and v vanish it is
        # zero.
        factor = np.where(np.isfinite(factor), factor, 1.0) if t > 1 else 1.0
        return p - eta * (lr * factor * m + weight_decay_rate * p)

    return step


CASES = [
    ("SGD", {}, sgd()),
    ("SGD", {"lr": 0.5}, sgd(0.5)),
    ("MomentumSGD", {}, momentum_sgd()),
    ("MomentumSGD", {"lr": 0.1, "momentum": 0.5}, momentum_sgd(0.1, 0.5)),
    ("CorrectedMomentumSGD", {}, corrected_momentum_sgd()),
    ("NesterovAG", {}, nesterov_ag()),
    ("NesterovAG", {"lr": 0.1, "momentum": 0.5}, nesterov_ag(0.1, 0.5)),
    ("AdaGrad", {}, ada_grad()),
    ("AdaGrad", {"lr": 0.1, "eps": 0.01}, ada_grad(0.1, 0.01)),
    ("AdaDelta", {}, ada_delta()),
    ("AdaDelta", {"rho": 0.8, "eps": 1e-3}, ada_delta(0.8, 1e-3)),
    ("Adam", {}, adam()),
    (
        "Adam",
        {"alpha": 0.1, "beta1": 0.8, "beta2": 0.9, "eps": 0.01},
        adam(0.1, 0.8, 0.9, 0.01),
    ),
    ("Adam", {"amsgrad": True, "beta2": 0.5}, adam(amsgrad=True, beta2=0.5)),
    ("Adam", {"eta": 0.5, "weight_decay_rate": 0.1}, adam(eta=0.5, weight_decay_rate=0.1)),
    ("AdamW", {"weight_decay_rate": 0.1}, adam(weight_decay_rate=0.1)),
    ("AMSGrad", {"beta2": 0.5}, adam(amsgrad=True, beta2=0.5)),
    ("AdaBound", {}, adam(final_lr=0.1)),
    ("AdaBound", {"eta": 0.5, "gamma": 0.5}, adam(final_lr=0.1, eta=0.5, gamma=0.5)),
    ("AMSBound", {"beta2": 0.5}, adam(final_lr=0.1, amsgrad=True, beta2=0.5)),
    ("RMSprop", {}, rmsprop()),
    ("RMSprop", {"eps_inside_sqrt": True, "eps": 0.01}, rmsprop(eps_inside_sqrt=True, eps=0.01)),
    ("RMSpropGraves", {}, rmsprop_graves()),
    ("SMORMS3", {}, smorms3()),
    ("SMORMS3", {"lr": 0.1, "eps": 1e-3}, smorms3(0.1, 1e-3)),
    ("MSVAG", {}, msvag()),
    ("MSVAG", {"eta": 0.5, "weight_decay_rate": 0.1, "lr": 0.01}, msvag(0.01, 0.9, 0.5, 0.1)),
]
IDS = [f"{name}-{'-'.join(kwargs) or 'default'}" for name, kwargs, _ in CASES]


def gradients(shape, dtype):
    """Gradients of very different size, with a step and an element where they vanish."""
    random = np.random.RandomState(3)
    scale = 10.0 ** random.randint(-1, 2, shape)
    for t in range(STEPS):
        g = random.standard_normal(shape) * scale
        g.reshape(-1)[1] = 0
        yield (g * (t != 5)).astype(dtype)


def run_formula(step, start, grads):
    p, state = start.astype(np.float64), {}
    for t, g in enumerate(grads, 1):
        p = step(p, g.astype(np.float64), t, state)
    return p


def run_optimizer(name, kwargs, array, grads):
    link = Link()
    with link.init_scope():
        link.p = Parameter(array)
    optimizer = getattr(O, name)(**kwargs).setup(link)
    for g in grads:
        link.p.grad = g.copy()
        optimizer.update()
        np.testing.assert_array_equal(link.p.grad, g)
    return link.p.array


@pytest.mark.parametrize(("name", "kwargs", "step"), CASES, ids=IDS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_formula(name, kwargs, step, dtype, tolerance):
    start = np.random.RandomState(0).standard_normal(SHAPE).astype(dtype)
    grads = list(gradients(SHAPE, dtype))
    expected = run_formula(step, start, grads)
    result = run_optimizer(name, kwargs, start.copy(), grads)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "kwargs", "step"), CASES, ids=IDS)
def test_blocks_of_large_arrays_give_the_same_as_small_arrays(name, kwargs, step, monkeypatch):
    from chainer.backends.numpy.kernels import optimizer_updates

    start = np.random.RandomState(0).standard_normal(SHAPE).astype(np.float32)
    grads = list(gradients(SHAPE, np.float32))
    whole = run_optimizer(name, kwargs, start.copy(), grads)
    monkeypatch.setattr(optimizer_updates, "BLOCK", 5)  # 12 elements: two blocks and a rest
    np.testing.assert_array_equal(run_optimizer(name, kwargs, start.copy(), grads), whole)


@pytest.mark.parametrize(("name", "kwargs", "step"), CASES, ids=IDS)
def test_non_contiguous_parameters_are_updated_in_place(name, kwargs, step, monkeypatch):
    from chainer.backends.numpy.kernels import optimizer_updates

    monkeypatch.setattr(optimizer_updates, "BLOCK", 5)
    base = np.zeros((4, 8), np.float64)
    view = base.T[1:7:2]
    start = np.random.RandomState(0).standard_normal(SHAPE)
    view[...] = start
    grads = [np.asfortranarray(g) for g in gradients(SHAPE, np.float64)]
    result = run_optimizer(name, kwargs, view, grads)
    assert result is view
    np.testing.assert_allclose(result, run_formula(step, start, grads), rtol=1e-12, atol=1e-12)
    assert not base[:, 0].any()
    assert not base[:, 2].any()


@pytest.mark.parametrize("name", sorted({name for name, _, _ in CASES}))
@pytest.mark.parametrize("shape", [(), (0,), (1, 0, 2), (1,)])
def test_scalar_and_empty_parameters(name, shape):
    start = np.ones(shape, np.float32)
    result = run_optimizer(name, {}, start, [np.ones(shape, np.float32)] * 2)
    assert result.shape == shape
    assert (result < 1).all()


@pytest.mark.parametrize("name", sorted({name for name, _, _ in CASES} - {"RMSprop"}))
def test_float16_is_computed_in_float32(name):
    start = np.random.RandomState(0).standard_normal(SHAPE).astype(np.float16)
    grads = list(gradients(SHAPE, np.float16))[:3]
    result = run_optimizer(name, {}, start.copy(), grads)
    wide = run_optimizer(name, {}, start.astype(np.float32), [g.astype(np.float32) for g in grads])
    assert result.dtype == np.float16
    np.testing.assert_allclose(result, wide, rtol=2e-3, atol=2e-3)
    assert np.isfinite(result).all()
