"""The link hooks work on arrays of the GPU, and give the numbers of the host."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import link_hooks
from tests.gpu import place

X = np.random.RandomState(0).normal(size=(2, 3, 6, 6)).astype("f")

HOOKS = {
    "spectral": lambda: link_hooks.SpectralNormalization(n_power_iteration=2),
    "spectral-factor": lambda: link_hooks.SpectralNormalization(factor=2, use_gamma=True),
    "standardization": lambda: link_hooks.WeightStandardization(),
}


def run(make_hook, device):
    """Trains three steps; returns outputs and the state of the link on the host."""
    np.random.seed(1)
    link = L.Convolution2D(3, 4, 3)
    link.W.array[...] = np.random.RandomState(2).normal(size=link.W.shape)
    hook = make_hook()
    link.add_hook(hook)
    for name in list(link._persistent):  # the start of the power iteration is random
        value = getattr(link, name)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            setattr(link, name, np.linspace(1, 2, value.size, dtype="f"))
    link.to_device(device)
    optimizer = chainer.optimizers.SGD(0.1).setup(link)
    outputs = []
    for _ in range(3):
        y = link(device.send(X))
        assert y.device == device
        outputs.append(place.to_host(y.array))
        link.cleargrads()
        F.sum(y * y).backward()
        optimizer.update()
    state = [place.to_host(param.array) for _, param in sorted(link.namedparams())]
    return outputs + state


@pytest.mark.parametrize("name", HOOKS)
def test_numbers(name, device):
    for actual, expected in zip(
        run(HOOKS[name], device), run(HOOKS[name], place.HOST), strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4)


def test_timer(device):
    link = L.Linear(3, 2).to_device(device)
    with link_hooks.TimerHook() as hook:
        link(device.send(np.ones((2, 3), "f")))
    [(_, seconds)] = hook.call_history
    assert seconds > 0
    assert hook.total_time() >= seconds


def test_cast_of_inputs(device):
    link = L.Linear(3, 2, initialW=1).to_device(device)
    link.add_hook(link_hooks.CastInputs(np.float32))
    y = link(device.send(np.ones((2, 3), np.float16)))
    assert y.dtype == np.float32
    np.testing.assert_allclose(place.to_host(y.array), 3)
