"""Captured steps with kernels of this pack: calls of kernels are recorded."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer.backends.numpy.recording import native


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


def test_weights_used_often():
    """The kernel adds up gradients of a weight by itself, and recordings add them one by one."""

    def trained(captures):
        np.random.seed(0)
        link = L.Linear(32, 32)
        optimizer = chainer.optimizers.Adam().setup(link)

        def step(x):
            for _ in range(4):
                x = F.tanh(link(x))
            loss = F.sum(x * x)
            link.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        if captures:
            step = chainer.capture(step, link, optimizer, on_failure="error")
        random = np.random.RandomState(1)
        losses = [float(step(random.rand(128, 32).astype("f")).array) for _ in range(8)]
        return losses, step

    with chainer.using_config("kernels", ("numba",)):
        losses, _ = trained(False)
        found, step = trained(True)
        assert "in use" in chainer.explain(step)
    np.testing.assert_allclose(found, losses, rtol=1e-4)


@pytest.mark.parametrize("activation", [F.relu, lambda x: F.leaky_relu(x, 0.1)])
def test_exact_activations_are_parts_of_loops(activation, monkeypatch):
    """With the switch, their steps are recorded, although a provider's kernel is chosen."""
    # Whether a loop is faster than NumPy is measured once for each loop. Here all are taken.
    monkeypatch.setattr(native, "_WORTH", float("inf"))
    monkeypatch.setattr(native, "_paying", {})

    def trained(captures):
        link = chainer.Link()
        with link.init_scope():
            link.w = chainer.Parameter(np.ones((256, 256), "f"))
        optimizer = chainer.optimizers.SGD(0.1).setup(link)

        def step(x):
            loss = F.sum(activation(link.w * x - 0.5) * x)
            link.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run = chainer.capture(step, link, optimizer, on_failure="error") if captures else step
        rng = np.random.RandomState(0)
        losses = [float(run(rng.randn(1, 256).astype("f")).array) for _ in range(6)]
        return losses, link.w.array, run

    with chainer.using_config("accelerate", "auto"):
        losses, w, captured = trained(True)
        expected_losses, expected_w, _ = trained(False)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
    np.testing.assert_allclose(w, expected_w, rtol=1e-6)
    (entry,) = captured._machine.entries.values()
    calls, functions = [
        int(w) for w in entry.records[0].program.description.split() if w.isdigit()
    ][:2]
    # The update and the long sum. A kernel of the activation would divide the loops.
    assert functions == 1
    assert calls == 2
