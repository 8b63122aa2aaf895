"""Two GPUs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer import iterators, optimizers, training
from chainer import links as L
from chainer.backends.cupy import nccl
from chainer.core.arrays.backend import get_device
from chainer.testing import attr
from chainer.training.updaters import ParallelUpdater
from tests.gpu import place
from tests.training.small_training import Regression, make_dataset

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.multi_gpu(2),
    pytest.mark.skipif(not place.ON_GPU, reason="numbers of CUDA devices"),
    pytest.mark.skipif(attr.gpu_limit() < 2, reason=f"needs 2 GPUs, there are {attr.gpu_limit()}"),
]


def train(devices, out):
    optimizer = optimizers.MomentumSGD(0.01).setup(Regression())
    iterator = iterators.SerialIterator(make_dataset(12), 6, shuffle=False)
    updater = ParallelUpdater(iterator, optimizer, devices=devices)
    training.Trainer(updater, (6, "iteration"), out=str(out)).run()
    return place.to_host(optimizer.target.W.array)


def test_parallel_updater(tmp_path):
    host = train({"main": -1, "second": -1}, tmp_path)
    np.testing.assert_allclose(train({"main": 0, "second": 1}, tmp_path), host, rtol=1e-4)


def test_arrays_move_between_devices():
    first, second = get_device("@cupy:0"), get_device("@cupy:1")
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = second.send(first.send(values))
    assert chainer.backend.get_device_from_array(array) == second
    np.testing.assert_array_equal(place.to_host(array), values)
    # ``.T`` is not contiguous.
    np.testing.assert_array_equal(place.to_host(first.send(array.T)), values.T)


class Halves(chainer.Chain):
    """Two links on a device each, with copies in between: as in the guide on several GPUs."""

    def __init__(self, first, second):
        super().__init__()
        self.devices = first, second
        with self.init_scope():
            self.first = L.Linear(None, 4, initialW=0.1).to_device(first)
            self.second = L.Linear(None, 4, initialW=0.2).to_device(second)

    def forward(self, x, t):
        first, second = self.devices
        z = self.first(x)
        y = F.tanh(self.second(F.copy(x, second)) + F.copy(z, second))
        y = F.tanh(z) + F.copy(y, first)
        return F.mean_squared_error(F.sum(y, axis=1), t)


@pytest.mark.filterwarnings("error")  # CuPy warns where a device reads the memory of another
def test_parts_of_a_model():
    results = []
    for first, second in (("@numpy", "@numpy"), ("@cupy:0", "@cupy:1"), ("@cupy:1", "@cupy:0")):
        optimizer = optimizers.Adam(0.05).setup(Halves(first, second))
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-3))
        iterator = iterators.SerialIterator(make_dataset(12), 6, shuffle=False)
        updater = training.updaters.StandardUpdater(iterator, optimizer, input_device=first)
        for _ in range(6):
            updater.update()
        model = optimizer.target
        assert chainer.backend.get_device_from_array(model.second.W.array).name == second
        results.append([place.to_host(param.array) for param in model.params()])
    for result in results[1:]:
        for actual, expected in zip(result, results[0], strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-5)


def test_to_gpu_leaves_links_on_their_gpu():
    """As in release 7; ``to_device`` moves."""
    model = chainer.Sequential(
        chainer.links.Linear(2, 2).to_device("@cupy:1"), chainer.links.Linear(2, 2)
    )
    with (
        pytest.warns(RuntimeWarning, match="is on @cupy:1 and stays there"),
        pytest.warns(DeprecationWarning, match="to_gpu is deprecated"),
    ):
        model.to_gpu(0)
    assert [link.W.device.name for link in model] == ["@cupy:1", "@cupy:0"]
    assert [link.device.name for link in model] == ["@cupy:0", "@cupy:0"]
    model.to_device("@cupy:0")
    assert [link.device.name for link in model] == ["@cupy:0", "@cupy:0"]
    assert model[0].W.device.name == "@cupy:0"


_PROGRAM = """
import sys, numpy as np
from chainer import iterators, optimizers, training
from chainer.training.updaters import MultiprocessParallelUpdater
from tests.training.small_training import Regression, make_dataset
dataset = make_dataset(12)
parts = [
    iterators.SerialIterator([dataset[j] for j in range(i, 12, 2)], 3, shuffle=False)
    for i in range(2)
]
optimizer = optimizers.MomentumSGD(0.02).setup(Regression())  # divided by the number of devices
updater = MultiprocessParallelUpdater(parts, optimizer, devices=[0, 1])
training.Trainer(updater, (6, "iteration"), out=sys.argv[1]).run()
print(*optimizer.target.W.array.get())
"""


def test_multiprocess_parallel_updater(tmp_path):
    """In a process of its own, which has not used CUDA before it starts others."""
    reason = nccl.missing()
    if reason is not None:
        pytest.skip(reason)
    finished = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    actual = np.array(finished.stdout.split()[-3:], np.float32)
    expected = train({"main": -1, "second": -1}, tmp_path)
    np.testing.assert_allclose(actual, expected, rtol=1e-4)
