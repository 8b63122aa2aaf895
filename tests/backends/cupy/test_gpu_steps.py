"""Training steps on a GPU: the numbers of the host, no copies, and no waiting for the device."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import chainer
from chainer.backends import cuda
from chainer.backends.cupy.kernels import optimizer_updates as kernels
from chainer.testing import attr
from chainer.training.optimizers import hooks as H
from tests.training import test_device_steps as steps

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(attr.gpu_limit() < 1, reason="needs a GPU"),
]


#: Keeps one thread of the device busy for seconds: more than a step takes to be submitted.
_CYCLES = 4_000_000_000
_SPIN = """
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
}
"""


@contextlib.contextmanager
def nobody_waiting():
    """Checks that nothing inside waits for the device, which is kept busy meanwhile."""
    xp = cuda.cupy
    spin = xp.RawKernel(_SPIN, "spin")
    spin((1,), (1,), (0,))
    still_busy = xp.cuda.Event(disable_timing=True)
    xp.cuda.get_current_stream().synchronize()
    spin((1,), (1,), (_CYCLES,))
    still_busy.record()
    yield
    assert not still_busy.done, "something waited for the device"


def test_waiting_is_found():
    x = cuda.cupy.ones(3)
    with pytest.raises(AssertionError, match="waited"), nobody_waiting():
        float(x.sum())


@pytest.mark.parametrize("network", steps.NETWORKS)
@pytest.mark.parametrize("cudnn", ["never", "auto"])
def test_nothing_waits(network, cudnn):
    with chainer.using_config("use_cudnn", cudnn):
        model, optimizer, x, t = steps.training(network, "@cupy:0")
        for _ in range(3):  # compiles kernels, and fills the memory pool
            optimizer.update(model, x, t)
        with nobody_waiting():
            optimizer.update(model, x, t)


@contextlib.contextmanager
def without_random_numbers(model):
    """Those of the device are not those of the host."""
    if hasattr(model.predictor, "steps"):
        model.predictor.steps.dropout = 0
    dropout = steps.F.dropout
    steps.F.dropout = lambda x, ratio: x
    try:
        yield
    finally:
        steps.F.dropout = dropout


@pytest.mark.parametrize("network", steps.NETWORKS)
@pytest.mark.parametrize("cudnn", ["never", "auto"])
def test_same_as_on_the_host(network, cudnn):
    weights = []
    for device in ("@numpy", "@cupy:0"):
        with chainer.using_config("use_cudnn", cudnn):
            model, optimizer, x, t = steps.training(network, device)
            optimizer.remove_hook("GradientLARS")
            with without_random_numbers(model):
                for _ in range(5):
                    optimizer.update(model, x, t)
        weights.append({name: cuda.to_cpu(p.array) for name, p in model.namedparams()})
    for name, expected in weights[0].items():
        np.testing.assert_allclose(weights[1][name], expected, 2e-3, 2e-3, err_msg=name)


def test_one_launch_updates_all(monkeypatch):
    launches = []
    function = kernels.UpdateKernel.function

    def counted(self, name, types):
        launches.append(name)
        return function(self, name, types)

    monkeypatch.setattr(kernels.UpdateKernel, "function", counted)
    model, optimizer, x, t = steps.training("cnn", "@cupy:0")
    optimizer.update(model, x, t)
    assert launches == ["adam"]


@pytest.mark.parametrize("threshold", [0.1, 1e9])
def test_clipping(threshold):
    grads = []
    for device in ("@numpy", "@cupy:0"):
        model = chainer.Link(a=(2,), b=(3,))
        model.to_device(device)
        for param, values in ((model.a, [3, 0]), (model.b, [0, 4, 0])):
            param.grad = chainer.get_device(device).send(np.array(values, "f"))
        H.GradientClipping(threshold)(chainer.optimizers.SGD().setup(model))
        grads.append([cuda.to_cpu(param.grad) for param in (model.a, model.b)])
    for one, other in zip(*grads, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
