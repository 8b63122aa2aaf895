"""Activations write to memory that they are given, as captured steps do."""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
import pytest

from chainer_numba import activations
from chainer_numba.supports import MIN_ELEMENTS

BACKEND = chainer.get_device("@numpy").backend

#: Kernel, numbers of its methods, and whether its gradient takes the input or the output.
KERNELS = {
    "relu": (activations.ReLUKernel, (), "y"),
    "leaky_relu": (activations.LeakyReLUKernel, (0.2,), "x"),
    "sigmoid": (activations.SigmoidKernel, (), "y"),
    "softplus": (activations.SoftplusKernel, (2.0,), "x"),
    "hard_sigmoid": (activations.HardSigmoidKernel, (), "x"),
}


def methods(name, x, gy):
    """Returns forward and backward as functions of ``out``."""
    kind, numbers, reads = KERNELS[name]
    kernel = kind(BACKEND)
    y = kernel.forward(x, *numbers)
    arrays = {"x": (x,), "y": (y,)}[reads]
    return (
        lambda out: kernel.forward(x, *numbers, out=out),
        lambda out: kernel.backward(*arrays, gy, *numbers, out=out),
    )


@pytest.mark.parametrize("shape", [(300, 257), (5,), (0, 3), ()])
@pytest.mark.parametrize("name", KERNELS)
def test_same_bits(name, shape):
    rng = np.random.default_rng(0)
    x, gy = (np.asarray(rng.standard_normal(shape, np.float32)) for _ in range(2))
    for method in methods(name, x, gy):
        out = np.full(shape, 7, np.float32)
        result = method(out)
        # The gradient of few sigmoids is the reference's, which makes an array of its own.
        assert result is out or (name == "sigmoid" and x.size < MIN_ELEMENTS["selection"])
        assert result.tobytes() == method(None).tobytes()


@pytest.mark.parametrize("name", KERNELS)
def test_float16_is_converted(name):
    x, gy = (np.random.default_rng(s).standard_normal((40, 9)).astype("e") for s in range(2))
    for method in methods(name, x, gy):
        result = method(np.zeros_like(x))
        assert result.dtype == x.dtype
        assert result.tobytes() == method(None).tobytes()


def test_captured_step_has_the_bits_of_the_step_as_written():
    def step(x, gy):
        v = chainer.Variable(x)
        y = F.gelu(v, approximate=True) + F.relu(v) + F.softplus(v)
        y.grad = gy
        y.backward()
        return y.array, v.grad

    rng = np.random.default_rng(3)
    with chainer.using_config("kernels", ("numba",)):
        captured = chainer.capture(step, on_failure="error")
        for _ in range(6):
            x, gy = rng.standard_normal((2, 128, 300), np.float32)
            for a, b in zip(captured(x, gy), step(x, gy), strict=True):
                assert a.tobytes() == b.tobytes()
        assert "in use" in chainer.explain(captured)
