"""Trainings on the GPU: the log is that of the same training on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.dataset import ConcatWithAsyncTransfer, concat_examples
from chainer.datasets import TupleDataset
from chainer.training import extensions
from chainer.training.updaters import ParallelUpdater, StandardUpdater
from tests.gpu import place

EPOCHS = 3


def dataset(size=60):
    random = np.random.RandomState(0)
    x = random.uniform(-1, 1, (size, 12)).astype(np.float32)
    return TupleDataset(x, (x[:, :4].sum(axis=1) > 0).astype(np.int32))


def mlp():
    np.random.seed(0)
    return L.Classifier(
        chainer.Sequential(L.Linear(12, 16), F.relu, L.Linear(16, 16), F.relu, L.Linear(16, 2))
    )


def trainer(device, out, *, epochs=EPOCHS, iterator=None, converter=concat_examples, updater=None):
    """A training with everything most trainings have."""
    model = mlp()
    if device is not None:
        model.to_device(device)
    optimizer = optimizers.Adam(0.01).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    if iterator is None:
        iterator = iterators.SerialIterator(dataset(), 12, shuffle=False)
    if updater is None:
        updater = StandardUpdater(iterator, optimizer, converter=converter, device=device)
    made = training.Trainer(updater, (epochs, "epoch"), out=str(out))
    test = iterators.SerialIterator(dataset(20), 12, repeat=False, shuffle=False)
    made.extend(extensions.Evaluator(test, model, device=device))
    made.extend(extensions.LogReport())
    made.extend(extensions.FailOnNonNumber())
    made.extend(extensions.ParameterStatistics(model.predictor[0]))
    made.extend(extensions.snapshot(filename="snapshot_{.updater.iteration}"))
    return made


def log_of(made):
    return made.get_extension("LogReport").log


def compare_logs(actual, expected):
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert one.keys() == other.keys()
        for key in one.keys() - {"elapsed_time"}:
            assert one[key] == pytest.approx(other[key], rel=2e-3, abs=1e-4), key


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    made = trainer(place.HOST, tmp_path_factory.mktemp("host"))
    made.run()
    return log_of(made)


def test_trainer(device, tmp_path, expected):
    made = trainer(device, tmp_path)
    made.run()
    compare_logs(log_of(made), expected)
    assert expected[-1]["main/loss"] < expected[0]["main/loss"]


@pytest.mark.skipif(not place.ON_GPU, reason="streams of CUDA devices")
def test_asynchronous_transfer(device, tmp_path, expected):
    made = trainer(device, tmp_path, converter=ConcatWithAsyncTransfer())
    made.run()
    compare_logs(log_of(made), expected)


def test_multiprocess_iterator(device, tmp_path, expected):
    iterator = iterators.MultiprocessIterator(dataset(), 12, shuffle=False, n_processes=2)
    made = trainer(device, tmp_path, iterator=iterator)
    made.run()
    compare_logs(log_of(made), expected)


def test_multithread_iterator(device, tmp_path, expected):
    iterator = iterators.MultithreadIterator(dataset(), 12, shuffle=False, n_threads=2)
    made = trainer(device, tmp_path, iterator=iterator)
    made.run()
    compare_logs(log_of(made), expected)


@pytest.mark.parametrize("sides", ["device-device", "device-host", "host-device"])
def test_resume(sides, device, tmp_path, expected):
    places = [device if name == "device" else place.HOST for name in sides.split("-")]
    trainer(places[0], tmp_path, epochs=1).run()
    resumed = trainer(places[1], tmp_path)
    serializers.load_npz(str(tmp_path / "snapshot_5"), resumed)
    resumed.run()
    compare_logs(log_of(resumed), expected)
    state = resumed.updater.get_optimizer("main").target.predictor[0].W.update_rule.state
    for name in ("m", "v"):
        assert chainer.backend.get_device_from_array(state[name]) == places[1]


def test_two_models_on_one_device(device, tmp_path):
    """The gradients of both halves of each batch are those of the whole."""
    made = []
    for devices in ({"main": place.HOST, "second": place.HOST}, {"main": device, "second": device}):
        optimizer = optimizers.MomentumSGD(0.01).setup(mlp())
        iterator = iterators.SerialIterator(dataset(), 12, shuffle=False)
        updater = ParallelUpdater(iterator, optimizer, devices=devices)
        one = training.Trainer(updater, (6, "iteration"), out=str(tmp_path))
        one.run()
        made.append(place.to_host(optimizer.target.predictor[0].W.array))
    np.testing.assert_allclose(made[1], made[0], rtol=1e-3, atol=1e-5)


@pytest.mark.skipif(not place.ON_GPU, reason="numbers of CUDA devices")
def test_device_numbers_as_in_earlier_releases(tmp_path, expected):
    """``device=0`` and ``to_gpu(0)`` are the first GPU."""
    model = mlp()
    with pytest.warns(DeprecationWarning, match="to_gpu is deprecated"):
        model.to_gpu(0)
    optimizer = optimizers.Adam(0.01).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    iterator = iterators.SerialIterator(dataset(), 12, shuffle=False)
    updater = StandardUpdater(iterator, optimizer, device=0)
    made = training.Trainer(updater, (EPOCHS, "epoch"), out=str(tmp_path))
    made.extend(extensions.LogReport())
    made.run()
    for one, other in zip(log_of(made), expected, strict=True):
        assert one["main/loss"] == pytest.approx(other["main/loss"], rel=2e-3)


def test_losses_stay_on_the_device(device):
    """What is reported is looked at when a report is written, not at each iteration."""
    model = mlp().to_device(device)
    x, t = concat_examples([dataset()[i] for i in range(12)], device)
    loss = model(x, t)
    assert chainer.backend.get_device_from_array(loss.array) == device
    assert chainer.backend.get_device_from_array(model.accuracy.array) == device
