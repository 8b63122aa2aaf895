"""Parallel updates by NCCL, on stand-ins for CuPy, NCCL and processes."""

from __future__ import annotations

import sys
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer.backends.cupy import library, nccl
from chainer.training import optimizers
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.trainer import Trainer
from chainer.training.updaters import MultiprocessParallelUpdater, multiprocess_parallel_updater
from tests.backends.cupy import emulator
from tests.backends.cupy.fake_nccl import Context, Nccl
from tests.training.small_training import make_dataset


class Model(chainer.Link):
    """Parameters of two dtypes, one without gradient, one made late and one that never is."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W = chainer.Parameter(np.ones(3, np.float32))
            self.half = chainer.Parameter(np.zeros((), np.float16))
            self.unused = chainer.Parameter(np.ones((2, 70), np.float32))
            self.late = chainer.Parameter(0)
            self.never = chainer.Parameter(0)

    def forward(self, x, t):
        if self.fails and threading.current_thread().name == "updater-1":
            raise ValueError("boom in a worker")
        if not self.late.is_initialized:
            self.late.initialize((x.shape[1],))
        W = F.broadcast_to(self.W + self.late, x.shape)
        y = F.sum(W * x, axis=1) + F.broadcast_to(F.cast(self.half, np.float32), t.shape)
        return F.sum((y - t) ** 2)

    fails = False


def make_updater(devices, model=None):
    dataset, n = make_dataset(12), len(devices)
    iterators = [
        SerialIterator([dataset[j] for j in range(i, 12, n)], 2, shuffle=False) for i in range(n)
    ]
    optimizer = optimizers.MomentumSGD(0.01).setup(model or Model())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "optimizer.lr is changed")
        return MultiprocessParallelUpdater(iterators, optimizer, devices=devices)


@pytest.fixture
def module(fake_cupy, monkeypatch):
    """Stand-in for CuPy with three devices and NCCL."""
    cuda = fake_cupy.cuda
    # Only as CuPy has it: a module that one has to import.
    monkeypatch.setitem(sys.modules, "cupy.cuda.nccl", Nccl(3))
    monkeypatch.setattr(cuda.runtime, "getDeviceCount", lambda: 3)
    monkeypatch.setattr(cuda, "get_current_stream", lambda: SimpleNamespace(ptr=0))
    monkeypatch.setattr(multiprocess_parallel_updater, "choose_context", lambda devices: Context())
    lock, call = threading.Lock(), emulator.Kernel.__call__

    def alone(kernel, *args):
        with lock:
            call(kernel, *args)

    monkeypatch.setattr(emulator.Kernel, "__call__", alone)
    return fake_cupy


def values(model):
    model.to_device("@numpy")
    return {name: param.array for name, param in model.namedparams(False)}


def test_same_as_on_the_host(module, monkeypatch, tmp_path):
    results = []
    for devices in ([0, 1, 2], {"main": -1, "b": -1, "c": -1}):
        updater = make_updater(devices)
        if len(results) == 1:
            monkeypatch.undo()
        Trainer(updater, (5, "iteration"), out=str(tmp_path)).run()
        results.append(values(updater.get_optimizer("main").target))
    assert results[0].keys() == results[1].keys() == {"/W", "/half", "/unused", "/late"}
    for name, expected in results[1].items():
        assert results[0][name].dtype == expected.dtype
        np.testing.assert_allclose(results[0][name], expected, 2e-3, 1e-3, err_msg=name)


def test_calls(module):
    """All parameters of one dtype in one piece, once there and once back in an update."""
    updater = make_updater([0, 1, 2])
    model = updater.get_optimizer("main").target
    try:
        updater.update()
        assert not model.unused.grad.any()
        assert type(model.W.grad) is module.ndarray
        calls = nccl.require().calls
        # W, late and unused, each to a multiple of 64 elements.
        sizes = {(64 + 64 + 192, "NCCL_FLOAT32"), (64, "NCCL_FLOAT16")}
        expected = {
            (name, rank, *rest)
            for name in ("bcast", "reduce")
            for rank in range(3)
            for rest in sizes
        }
        assert set(calls) == expected
        assert len(calls) == len(expected)
        workers = list(updater._workers)
    finally:
        updater.finalize()
    # All at a time: one that waits for the others would be terminated.
    assert {("destroy", rank) for rank in range(3)} <= set(calls)
    assert not any(worker._process.terminated.is_set() for worker in workers)


def test_failing_worker(module):
    model = Model()
    model.fails = True
    updater = make_updater([0, 1, 2], model)
    with pytest.raises(RuntimeError, match="worker process 1 (.|\n)*boom in a worker"):
        updater.update()
    updater.finalize()
    assert ("abort", 0) in nccl.require().calls


def test_nobody_waits_for_a_worker_that_is_gone(module):
    updater = make_updater([0, 1, 2])
    updater.update()
    workers = list(updater._workers)
    workers[0].connection.close()  # as the end of its process does; the thread ends, too
    workers[0]._process.join()
    updater.finalize()
    calls = set(nccl.require().calls)
    assert {("abort", rank) for rank in range(3)} <= calls
    assert not any(name == "destroy" for name, *_ in calls)
    assert not any(worker._process.terminated.is_set() for worker in workers)


def test_parameters_that_come_too_late(module):
    updater = make_updater([0, 1, 2])
    try:
        updater.update()
        updater.get_optimizer("main").target.never.initialize((2,))
        with pytest.raises(RuntimeError, match="after the first update: /never"):
            updater.update()
    finally:
        updater.finalize()


def test_one_device_for_several_processes_goes_through_the_host(module):
    updater = make_updater([0, 0, 0])
    try:
        updater.update()
    finally:
        updater.finalize()
    assert nccl.require().calls == []


def test_missing_nccl(module, monkeypatch):
    assert MultiprocessParallelUpdater.available()
    monkeypatch.setitem(sys.modules, "cupy.cuda.nccl", SimpleNamespace(available=False))
    assert not MultiprocessParallelUpdater.available()
    with pytest.raises(RuntimeError, match="NCCL is not available: .*pip install nvidia-nccl-cu1"):
        make_updater([0, 1, 2])
    make_updater([0, 0])  # not needed
    make_updater([-1, -1])


def test_missing_cupy(monkeypatch):
    monkeypatch.setattr(library, "find", lambda: (None, "No module named 'cupy'"))
    assert MultiprocessParallelUpdater.available()
    with pytest.raises(RuntimeError, match="NCCL is not available: No module named 'cupy'"):
        nccl.unique_id()


def test_dtypes_that_nccl_has_not(module):
    with pytest.raises(TypeError, match="complex64 cannot be exchanged"):
        nccl.Communicator(nccl.unique_id(), 3, 0, [module.zeros(2, "F")])
