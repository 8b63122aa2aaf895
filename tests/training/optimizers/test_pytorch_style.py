"""Adam with ``eps`` and the weight decay at the places where PyTorch has them."""

import numpy as np
import pytest

import chainer
from chainer import optimizers


def _model(value):
    model = chainer.Link()
    with model.init_scope():
        model.w = chainer.Parameter(np.array(value, "d"))
    return model


def _gradients(steps):
    # Gradients near eps show where it is added.
    return np.random.default_rng(0).standard_normal((steps, 4)) * [1.0, 1e-3, 1e-6, 1e-8]


def _pytorch(w, gradients, lr, decay, eps=1e-8, amsgrad=False):
    """The algorithm as the documentation of torch.optim.AdamW prints it."""
    m = v = largest = np.zeros_like(w)
    for t, g in enumerate(gradients, 1):
        w = w - lr * decay * w
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        largest = np.maximum(largest, v)
        second = (largest if amsgrad else v) / (1 - 0.999**t)
        w = w - lr * (m / (1 - 0.9**t)) / (np.sqrt(second) + eps)
    return w


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_steps(decay, amsgrad):
    start = np.array([1.0, -2.0, 0.5, 3.0])
    model = _model(start)
    optimizer = optimizers.Adam(
        1e-2, weight_decay_rate=decay, amsgrad=amsgrad, pytorch_style=True
    ).setup(model)
    gradients = _gradients(5)
    for gradient in gradients:
        model.w.grad = gradient.copy()
        optimizer.update()
    expected = _pytorch(start, gradients, 1e-2, decay, amsgrad=amsgrad)
    np.testing.assert_allclose(model.w.array, expected, rtol=1e-13)


def test_numbers_of_pytorch():
    # torch.optim.AdamW(lr=0.01, weight_decay=0.1, eps=1e-6), PyTorch 2.14, float64, three steps.
    model = _model([1.0, -2.0, 0.5, 3.0])
    optimizer = optimizers.AdamW(1e-2, eps=1e-6, weight_decay_rate=0.1, pytorch_style=True).setup(
        model
    )
    for i in range(1, 4):
        model.w.grad = np.array([1.0, -1e-3, 1e-6, 1e-8]) * i
        optimizer.update()
    expected = [0.9678008288317965, -1.9648243022015366, 0.4810554165304832, 2.9905574473429435]
    np.testing.assert_allclose(model.w.array, expected, rtol=1e-12)


def test_the_default_is_unchanged():
    one, other = _model([1.0]), _model([1.0])
    for model, options in ((one, {}), (other, {"pytorch_style": True})):
        optimizer = optimizers.Adam(1.0, **options).setup(model)
        model.w.grad = np.array([1e-6])
        optimizer.update()
    # Before the correction eps is sqrt(1000) times as large: a third of the gradient.
    np.testing.assert_allclose(1 - one.w.array, 1 / (1 + 1e-2 * 1000**0.5), rtol=1e-6)
    np.testing.assert_allclose(1 - other.w.array, 1 / (1 + 1e-2), rtol=1e-6)


def test_a_captured_step_follows_alpha():
    start = np.array([1.0, -2.0, 0.5, 3.0])
    models = [_model(start), _model(start)]
    rules = [
        optimizers.AdamW(1e-2, weight_decay_rate=0.1, pytorch_style=True).setup(model)
        for model in models
    ]

    def step(model, optimizer, x):
        loss = chainer.functions.sum(model.w * x)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    captured = chainer.capture(lambda x: step(models[0], rules[0], x), models[0], rules[0])
    for i, gradient in enumerate(_gradients(6)):
        for rule in rules:
            rule.alpha = 1e-2 / (1 + i)
        captured(gradient)
        step(models[1], rules[1], gradient)
    np.testing.assert_array_equal(models[0].w.array, models[1].w.array)


def test_it_does_not_go_with_adabound():
    model = _model([1.0])
    optimizer = optimizers.Adam(adabound=True, pytorch_style=True).setup(model)
    model.w.grad = np.array([1.0])
    with pytest.raises(ValueError, match="pytorch_style must be False if adabound is True"):
        optimizer.update()
