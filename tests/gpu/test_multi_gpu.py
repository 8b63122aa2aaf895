"""Two GPUs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chainer
from chainer import iterators, optimizers, training
from chainer.backends.cupy import nccl
from chainer.core.backend import get_device
from chainer.plugins.testing import attr
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
optimizer = optimizers.MomentumSGD(0.01).setup(Regression())
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
