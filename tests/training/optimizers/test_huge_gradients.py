"""GradientClipping of gradients whose squares overflow: on the host, on devices, in recordings."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer.training import optimizers as O
from chainer.training.optimizers import hooks as H

#: Values of the gradients of each parameter, with their dtypes.
CASES = {
    "float32": [("f", [1e30, -2e30]), ("f", [2e30])],
    "float64": [("d", [1e200, -2e200]), ("d", [2e200])],
    "mixed": [("f", [1e30, -2e30]), ("d", [2e30])],
    "beside small ones": [("f", [3e30, 0]), ("f", [4e30, 1e-30])],
    "half": [("e", [6e4, 6e4, 6e4]), ("e", [6e4])],
    "ordinary": [("f", [1, -2]), ("f", [2])],
}


def make(case, device="@numpy", scale=None):
    model = chainer.Link()
    with model.init_scope():
        for i, (dtype, grad) in enumerate(CASES[case]):
            setattr(model, f"p{i}", chainer.Parameter(np.zeros(len(grad), dtype)))
    model.to_device(device)
    optimizer = O.SGD(1.0).setup(model)
    for (dtype, grad), param in zip(CASES[case], params_of(model), strict=True):
        param.grad = param.device.send(np.array(grad, dtype))
        param.loss_scale = scale
    return model, optimizer


def params_of(model):
    return [param for _, param in sorted(model.namedparams())]


def expected(case, threshold=1.0):
    grads = [np.array(grad, "g") for _, grad in CASES[case]]
    norm = np.sqrt(sum((grad**2).sum() for grad in grads))
    return [(grad * (threshold / norm)).astype("d") for grad in grads]


def check(model, case, scale=1.0, rtol=1e-5):
    to_cpu = chainer.get_device("@numpy").send
    for param, grad in zip(params_of(model), expected(case), strict=True):
        np.testing.assert_allclose(to_cpu(param.grad) / scale, grad, max(rtol, 1e-5), atol=1e-30)


@pytest.mark.parametrize("scale", [None, 2.0**10])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("device", ["@numpy", "@strict:0"])
def test_norm_is_the_threshold(device, case, scale):
    if case == "half" and scale:
        pytest.skip("the true gradients are small")
    model, optimizer = make(case, device, scale)
    if scale:
        for param in model.params():
            param.grad = param.grad * np.float32(scale) if case != "float64" else param.grad * scale
            assert param.grad.dtype == param.dtype
    H.GradientClipping(1.0)(optimizer)
    check(model, case, scale or 1.0, 2e-3 if case == "half" else 1e-5)


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("device", ["@numpy", "@strict:0"])
def test_gradients_that_are_not_finite_stay_so(device, value):
    model, optimizer = make("float32", device)
    model.p0.grad = model.p0.device.send(np.array([value, 1], np.float32))
    with np.errstate(invalid="ignore"):
        H.GradientClipping(1.0)(optimizer)
    assert not np.isfinite(chainer.get_device("@numpy").send(model.p0.grad)).all()


def steps(device, capture, n=6):
    """Makes steps whose gradients become huge at some of them."""
    model = chainer.Link(p=(3,))
    model.p.array[...] = 0
    model.to_device(device)
    optimizer = O.SGD(1.0).setup(model)
    optimizer.add_hook(H.GradientClipping(1.0))

    def step(x):
        loss = F.sum(model.p * x)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    if capture:
        step = chainer.capture(step, model, optimizer)
    left = []
    for i in range(n):
        x = np.array([0.1, 1, 2], np.float32) * np.float32(1e30 if i > 3 else 1)
        step(model.device.send(x))
        left.append(chainer.get_device("@numpy").send(model.p.array).copy())
    return np.array(left), step


def test_captured_steps():
    eager, _ = steps("@numpy", False)
    captured, step = steps("@numpy", True)
    assert "in use" in step.explain()
    np.testing.assert_array_equal(captured, eager)
    np.testing.assert_allclose(eager[-1] - eager[-2], eager[-3] - eager[-4], 1e-5, 1e-6)
