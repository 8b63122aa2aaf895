from __future__ import annotations

import numpy as np
import pytest

from chainer.core.autograd.parameter import Parameter
from chainer.links.link import Link
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H

W = np.array([[1, -2], [3, 0.5]], np.float32)
B = np.array([0.1, 0], np.float32)
GRAD = np.array([[0.3, -4], [2, 0]], np.float32)


def gradients_after(hook, lr=0.1):
    """Runs a hook in an update; the second parameter has no gradient."""
    model = Link()
    with model.init_scope():
        model.W = Parameter(W.copy())
        model.b = Parameter(B.copy())
    optimizer = O.SGD(lr).setup(model)
    optimizer.add_hook(hook)
    model.W.grad = GRAD.copy()
    model.b.grad = None
    optimizer.update()
    return model.W.grad, model.b.grad, model.W.array


# Expected numbers observed in releases 4.3.1 and 7.8.1.
@pytest.mark.parametrize(
    ("hook", "w", "b"),
    [
        (H.WeightDecay(0.1), [[0.4, -4.2], [2.3, 0.05]], [0.01, 0]),
        (H.Lasso(0.1), [[0.4, -4.1], [2.1, 0.1]], [0.1, 0]),
        (H.GradientClipping(1.0), [[0.06693161, -0.89242148], [0.44621074, 0]], [0, 0]),
        (H.GradientClipping(100.0), GRAD, [0, 0]),
        (H.GradientHardClipping(-1, 1), [[0.3, -1], [1, 0]], [0, 0]),
        (H.GradientLARS(), [[0.25266132, -3.36881733], [1.68440866, 0]], [0, 0]),
        (H.GradientLARS(threshold=100.0), GRAD, [0, 0]),
        (
            H.GradientLARS(weight_decay=0.1),
            [[0.31071332, -3.26248956], [1.78660154, 0.03883917]],
            [0.1, 0],
        ),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "timing") else "",
)
def test_numbers_of_upstream(hook, w, b):
    grad_w, grad_b, array = gradients_after(hook)
    np.testing.assert_allclose(grad_w, w, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(grad_b, b, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(array, W - 0.1 * grad_w, rtol=1e-6)


def test_lars_with_small_weights_decays_only():
    grad, _, _ = gradients_after(H.GradientLARS(threshold=100.0, weight_decay=0.5))
    np.testing.assert_allclose(grad, GRAD + 0.5 * W, rtol=1e-6)


def test_gradient_noise():
    np.random.seed(0)
    grad, _, _ = gradients_after(H.GradientNoise(0.3))
    # Observed in releases 4.3.1 and 7.8.1 with the same seed.
    expected = [[1.26621127, -3.7808247], [2.53607678, 1.22738779]]
    np.testing.assert_allclose(grad, expected, rtol=1e-6)


def test_gradient_noise_of_another_kind():
    calls = []

    def noise(xp, shape, dtype, hook, rule):
        calls.append((xp, shape, dtype, hook.eta, rule.t))
        return xp.ones(shape, dtype)

    grad, _, _ = gradients_after(H.GradientNoise(2.0, noise))
    np.testing.assert_allclose(grad, GRAD + 1)
    assert calls[0] == (np, (2, 2), np.float32, 2.0, 0)


def test_clipping_looks_at_all_gradients_together():
    model = Link()
    with model.init_scope():
        model.a = Parameter(np.zeros(1, np.float32))
        model.b = Parameter(np.zeros(1, np.float16))
        model.lazy = Parameter(0)
    optimizer = O.SGD().setup(model)
    optimizer.add_hook(H.GradientClipping(5.0))
    model.a.grad = np.array([300], np.float32)
    model.b.grad = np.array([400], np.float16)  # its square is no float16
    optimizer.update()
    np.testing.assert_allclose([model.a.grad[0], model.b.grad[0]], [3, 4], rtol=1e-3)


def test_mistakes():
    for threshold in (-1.0, float("nan")):
        with pytest.raises(ValueError, match=f"threshold must not be negative, got {threshold}"):
            H.GradientClipping(threshold)
    with pytest.raises(ValueError, match="must not exceed upper_bound, got 1 and -1"):
        H.GradientHardClipping(1, -1)
    with pytest.raises(TypeError, match="noise_func must be callable, got 3"):
        H.GradientNoise(0.1, 3)


def test_clipping_of_zero_gradients():
    model = Link(p=(2,))
    optimizer = O.SGD().setup(model)
    optimizer.add_hook(H.GradientClipping(1.0))
    model.cleargrads()
    optimizer.update()
    np.testing.assert_array_equal(model.p.grad, [0, 0])


def test_clipping_knows_the_loss_scale_of_float16_parameters():
    model = Link()
    with model.init_scope():
        model.p = Parameter(np.zeros(2, np.float16))
    optimizer = O.SGD(1.0)
    optimizer.use_fp32_update()
    optimizer.setup(model)
    optimizer.add_hook(H.GradientClipping(1.0))
    model.p.grad = np.array([30, 40], np.float16)
    model.p.loss_scale = 10.0
    optimizer.update()
    np.testing.assert_allclose(model.p.array, [-0.6, -0.8], rtol=1e-2)


@pytest.mark.parametrize(
    ("name", "arguments", "each"),
    [
        ("WeightDecay", (0.1,), True),
        ("Lasso", (0.1,), True),
        ("GradientClipping", (1,), False),
        ("GradientHardClipping", (-1, 1), True),
        ("GradientNoise", (1,), True),
        ("GradientLARS", (), True),
    ],
)
def test_attributes(name, arguments, each):
    hook = getattr(H, name)(*arguments)
    assert hook.name == name
    assert hook.timing == "pre"
    assert getattr(hook, "call_for_each_param", False) is each
