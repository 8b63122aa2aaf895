"""Captured steps with kernels of this pack: calls of kernels are recorded."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


def run(is_captured):
    np.random.seed(0)
    model = L.Classifier(
        chainer.Sequential(L.Linear(784, 50), F.relu, L.BatchNormalization(50), L.Linear(50, 10))
    )
    optimizer = chainer.optimizers.Adam().setup(model)

    def step(x, t):
        loss = model(x, t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    if is_captured:
        step = chainer.capture(step, model, optimizer, on_failure="error")
    rng = np.random.RandomState(1)
    losses = []
    for i in range(8):
        optimizer.alpha = 0.01 / (i + 1)
        x, t = rng.rand(32, 784).astype("f"), rng.randint(0, 10, 32).astype("i")
        losses.append(step(x, t).array.tobytes())
    return losses, [p.array for p in model.params()], step


def test_equal_to_the_step_as_written():
    with chainer.using_config("kernels", ("numba",)):
        losses, arrays, _ = run(False)
        found, captured, step = run(True)
        assert "in use" in chainer.explain(step)
    assert found == losses
    for a, b in zip(arrays, captured, strict=True):
        np.testing.assert_array_equal(a, b)
