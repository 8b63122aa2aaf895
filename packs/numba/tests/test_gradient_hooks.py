"""Hooks change the gradients of all contiguous parameters by one call of a kernel."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer.optimizer_hooks import GradientClipping, GradientHardClipping, Lasso, WeightDecay

from chainer_numba import gradient_hooks

HOOKS = [
    WeightDecay(0.1),
    Lasso(0.1),
    GradientHardClipping(-0.25, 0.5),
    GradientClipping(0.5),
    GradientClipping(1e6),
]


class Model(chainer.Link):
    def __init__(self, dtype):
        super().__init__()
        random = np.random.RandomState(0)
        with self.init_scope():
            for n in range(6):
                setattr(self, f"p{n}", chainer.Parameter(random.randn(n, 70).astype(dtype)))
            self.p6 = chainer.Parameter(np.array(2, dtype))
        self.p5.array = np.asfortranarray(self.p5.array)


@pytest.fixture
def calls(monkeypatch):
    numbers = []
    run = gradient_hooks.GradientHooksKernel._run

    def counting(self, loop, table, *arguments):
        numbers.append(len(table.ends))
        run(self, loop, table, *arguments)

    monkeypatch.setattr(gradient_hooks.GradientHooksKernel, "_run", counting)
    return numbers


def gradients(kernels, hook, dtype="f", scale=None, special=False, contiguous=False):
    model = Model(dtype)
    if contiguous:
        model.p5.array = np.ascontiguousarray(model.p5.array)
    optimizer = chainer.optimizers.SGD().setup(model)
    random = np.random.RandomState(1)
    for param in model.params():
        grad = np.asarray(random.randn(*param.shape), param.dtype)
        if special and grad.size > 3:
            grad.ravel()[:3] = np.nan, np.inf, -np.inf
            param.array.ravel()[3:6] = np.nan, 0, -0.0
        param.grad = grad
        if scale is not None:
            param.grad *= scale
            param._loss_scale = scale
    with chainer.using_config("kernels", kernels):
        optimizer.call_hook(hook)
    # As the update does: what is still scaled is divided by the scale.
    return [p.grad / (1 if p.loss_scale is None else p.loss_scale) for p in model.params()]


def check(hook, rtol=0.0, **options):
    found = gradients(("numba",), hook, **options)
    expected = gradients((), hook, **options)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=0)


@pytest.mark.parametrize("hook", HOOKS[:3])
@pytest.mark.parametrize("special", [False, True])
def test_each_bit_is_that_of_the_reference(hook, special, calls):
    check(hook, special=special)
    assert calls == [6]  # the seventh is not contiguous


@pytest.mark.parametrize("hook", HOOKS[3:])
@pytest.mark.parametrize("special", [False, True])
def test_clipping_of_the_norm(hook, special, calls):
    check(hook, special=special, contiguous=True)
    # The norm is computed as in a captured step. The kernel scales, if there is something to clip.
    assert calls == ([7] if hook is HOOKS[3] and not special else [])


def test_clipping_of_the_norm_with_arrays_that_are_not_contiguous(calls):
    check(HOOKS[3])
    assert calls == []


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("dtype", ["e", "d"])
def test_other_dtypes_are_left_to_the_reference(hook, dtype):
    check(hook, rtol=2e-3 if dtype == "e" else 1e-6, dtype=dtype)


@pytest.mark.parametrize("hook", HOOKS)
def test_gradients_with_a_loss_scale(hook, calls):
    check(hook, rtol=1e-6, scale=128.0)
    check(hook, rtol=1e-5, scale=100.0)


@pytest.mark.parametrize("hook", HOOKS[:4])
def test_threads(hook, use_threads, calls):
    use_threads(3)
    first = gradients(("numba",), hook, contiguous=True)
    check(hook, rtol=1e-6, contiguous=True)
    for a, b in zip(first, gradients(("numba",), hook, contiguous=True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sums_of_squares_of_many_elements_are_precise():
    grad = np.random.RandomState(0).rand(3_000_001).astype("f")
    total = gradient_hooks.GradientHooksKernel(None).sum_of_squares([grad, grad[:5]])
    expected = np.square(grad, dtype="d").sum() + np.square(grad[:5], dtype="d").sum()
    assert total.shape == ()
    assert total.dtype == np.float32
    np.testing.assert_allclose(total, expected, rtol=1e-6)


def test_captured_steps_have_the_hooks():
    def train(captured):
        model = Model("f")
        optimizer = chainer.optimizers.SGD(0.1).setup(model)
        for hook in (WeightDecay(0.1), GradientHardClipping(-1.0, 1.0)):
            optimizer.add_hook(hook)

        def step(x):
            loss = chainer.functions.sum(chainer.functions.square(model.p4 * x))
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        if captured:
            step = chainer.capture(step, model, optimizer, on_failure="error")
        random = np.random.RandomState(2)
        for _ in range(6):
            step(random.randn(4, 70).astype("f"))
        return model.p4.array

    with chainer.using_config("kernels", ("numba",)):
        np.testing.assert_array_equal(train(True), train(False))
