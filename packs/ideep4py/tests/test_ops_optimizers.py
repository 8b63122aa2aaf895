from __future__ import annotations

import numpy as np
import pytest
from conftest import elements

import ideep4py
from ideep4py import ops


@pytest.fixture(params=["dense", "blocked", "padded"])
def parameter(request, normal, blocked):
    if request.param == "dense":
        return ideep4py.array(normal(7, 9))
    return blocked(2, 8 if request.param == "blocked" else 5, 3, 3)


def test_sgd(parameter, normal) -> None:
    start, gradient, layout = elements(parameter), normal(*parameter.shape), parameter.layout
    for lr in (0.1, 0.2):
        ops.sgd_update(parameter, gradient, lr)
    assert parameter.layout is layout
    np.testing.assert_allclose(elements(parameter), start - 0.3 * gradient, rtol=1e-5, atol=1e-6)


def test_momentum_sgd(parameter, normal) -> None:
    p, v = elements(parameter), np.zeros(parameter.shape, "f")
    velocity = ops.zeros_like(parameter)
    for k in range(3):
        gradient, lr = normal(*parameter.shape), 0.1 * (k + 1)
        ops.momentum_sgd_update(parameter, gradient, velocity, lr, 0.8)
        v = 0.8 * v - lr * gradient
        p = p + v
    np.testing.assert_allclose(elements(parameter), p, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(elements(velocity), v, rtol=1e-5, atol=1e-5)


def test_adam(parameter, normal) -> None:
    p = elements(parameter).astype("d")
    m, v = np.zeros_like(p), np.zeros_like(p)
    first, second = ops.zeros_like(parameter), ops.zeros_like(parameter)
    for t in range(1, 4):
        gradient = normal(*parameter.shape)
        lr = 0.01 * np.sqrt(1 - 0.99**t) / (1 - 0.9**t)
        ops.adam_update(parameter, gradient, first, second, lr, 0.9, 0.99, 1e-6)
        m += 0.1 * (gradient - m)
        v += 0.01 * (gradient.astype("d") ** 2 - v)
        p -= lr * m / (np.sqrt(v) + 1e-6)
    np.testing.assert_allclose(elements(parameter), p, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(elements(first), m, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(elements(second), v, rtol=1e-4, atol=1e-5)
    assert float(parameter.sum()) == pytest.approx(p.sum(), abs=1e-3)  # padding is still zero


def test_state_follows_a_parameter_whose_layout_changed(blocked, normal) -> None:
    parameter = blocked(2, 8, 3, 3)
    velocity = ops.zeros_like(parameter)
    np.asarray(parameter)  # now dense
    ops.momentum_sgd_update(parameter, normal(2, 8, 3, 3), velocity, 0.1)
    assert velocity.layout is parameter.layout


def test_errors(normal) -> None:
    p = ideep4py.array(normal(2, 3))
    with pytest.raises(TypeError, match="parameter must be an mdarray"):
        ops.sgd_update(normal(2, 3), normal(2, 3), 0.1)
    with pytest.raises(ValueError, match="gradient must have the shape"):
        ops.sgd_update(p, normal(3, 2), 0.1)
    with pytest.raises(TypeError, match="velocity must be an mdarray"):
        ops.momentum_sgd_update(p, normal(2, 3), normal(2, 3), 0.1)
    for lr, eps, message in [(0.0, 1e-8, "lr must not be 0"), (0.1, 0.0, "eps must be greater")]:
        with pytest.raises(ValueError, match=message):
            ops.adam_update(p, p, p.copy(), p.copy(), lr, eps=eps)
