"""Training on a backend whose arrays refuse every implicit mix with host arrays."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import chainer
from chainer import functions as F
from chainer import links as L
from chainer.core.arrays.backend import get_device, get_device_from_array
from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import extensions as E
from chainer.training import optimizers as O
from chainer.training import triggers
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.optimizers import hooks as H
from chainer.training.trainer import Trainer
from chainer.training.updaters.multiprocess_parallel_updater import MultiprocessParallelUpdater
from chainer.training.updaters.parallel_updater import ParallelUpdater
from chainer.training.updaters.standard_updater import StandardUpdater
from tests.training.optimizers.test_update_formulas import CASES, IDS, gradients, run_formula
from tests.training.small_training import Regression, make_dataset

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("chainer_strict_backend") is None,
    reason="the distribution in tests/strict_backend is not installed",
)

DEVICE = "@strict:1"


def host(array):
    return get_device("@numpy").send(array)


@pytest.mark.parametrize(("name", "kwargs", "step"), CASES, ids=IDS)
def test_optimizers(name, kwargs, step):
    from chainer_strict_backend import count_transfers

    model = Regression()
    start = np.random.RandomState(0).standard_normal(3)
    grads = list(gradients((3,), np.float64))
    model.W.array = start.copy()
    model.to_device(DEVICE)
    optimizer = getattr(O, name)(**kwargs).setup(model)
    for g in grads:
        model.W.grad = get_device(DEVICE).send(g)
        with count_transfers() as transfers:
            optimizer.update()
        assert transfers.total == 0
    expected = run_formula(step, start, grads)
    np.testing.assert_allclose(host(model.W.array), expected, rtol=1e-12, atol=1e-12)


def test_state_follows_the_parameter():
    model = Regression()
    optimizer = O.Adam().setup(model)
    for device in ("@numpy", DEVICE, "@strict:0", "@numpy"):
        model.to_device(device)
        model.W.grad = get_device(device).send(np.ones(3, np.float32))
        optimizer.update()
        state = model.W.update_rule.state
        assert model.W.device == get_device(device)
        assert type(state["m"]) is type(model.W.array)


def test_float32_update():
    model = Regression()
    model.W.array = np.ones(3, np.float16)
    model.to_device(DEVICE)
    optimizer = O.MomentumSGD(1e-4)
    optimizer.use_fp32_update()
    optimizer.setup(model)
    for _ in range(20):
        model.W.grad = get_device(DEVICE).send(np.ones(3, np.float16))
        model.W.loss_scale = 2.0
        optimizer.update()
    assert (host(model.W.array) < 1).all()


@pytest.mark.parametrize(
    "hook",
    [
        H.WeightDecay(0.1),
        H.Lasso(0.1),
        H.GradientClipping(0.1),
        H.GradientHardClipping(-0.1, 0.1),
        H.GradientNoise(0.1),
        H.GradientLARS(weight_decay=0.1),
    ],
    ids=lambda hook: hook.name,
)
def test_hooks(hook):
    weights = []
    for device in ("@numpy", DEVICE):
        np.random.seed(0)
        model = Regression()
        model.to_device(device)
        optimizer = O.SGD(0.1).setup(model)
        optimizer.add_hook(hook)
        for i in range(3):
            model.W.grad = get_device(device).send(np.array([i, 1, -5], np.float32))
            optimizer.update()
        weights.append(host(model.W.array))
    if hook.name != "GradientNoise":
        np.testing.assert_allclose(*weights, rtol=1e-6)
    assert np.isfinite(weights[1]).all()
    assert (weights[1] != 1).any()


def training(device, out, stop):
    model = Regression()
    optimizer = O.Adam(0.05).setup(model)
    dataset = make_dataset()
    updater = StandardUpdater(SerialIterator(dataset, 4, shuffle=False), optimizer, device=device)
    trainer = Trainer(updater, stop, out=str(out))
    validation = SerialIterator(dataset, 4, repeat=False, shuffle=False)
    trainer.extend(E.Evaluator(validation, model, device=device))
    trainer.extend(E.LogReport())
    trainer.extend(E.PrintReport(["epoch", "main/loss", "validation/main/loss"]))
    plots = (stop[0], "epoch")
    trainer.extend(E.PlotReport(["main/loss", "validation/main/loss"], trigger=plots))
    trainer.extend(E.ParameterStatistics(model))
    trainer.extend(E.VariableStatisticsPlot(model, trigger=plots))
    trainer.extend(E.FailOnNonNumber())
    trainer.extend(E.dump_graph("main/loss"))
    trainer.extend(E.MicroAverage("main/loss", "main/loss", "ratio"))
    best = triggers.MinValueTrigger("validation/main/loss")
    trainer.extend(lambda t: None, name="best", trigger=best)
    trainer.extend(E.snapshot())
    return trainer


def test_trainer(tmp_path):
    logs = []
    for device in (-1, DEVICE):
        out = tmp_path / str(device)
        trainer = training(device, out, (4, "epoch"))
        trainer.run()
        logs.append(trainer.get_extension("LogReport").log)
    for one, other in zip(*logs, strict=True):
        assert one.keys() == other.keys()
        for key in one.keys() - {"elapsed_time"}:
            assert one[key] == pytest.approx(other[key], rel=1e-4, abs=1e-6), key


def test_snapshots_of_either_side_load_at_the_other(tmp_path):
    first = training(DEVICE, tmp_path, (2, "epoch"))
    first.run()
    save_npz(tmp_path / "state", first)
    second = training(-1, tmp_path, (3, "epoch"))
    load_npz(tmp_path / "state", second)
    second.run()
    save_npz(tmp_path / "state", second)
    third = training(DEVICE, tmp_path, (4, "epoch"))
    load_npz(tmp_path / "state", third)
    third.run()
    whole = training(-1, tmp_path, (4, "epoch"))
    whole.run()
    weights = [host(t.updater.get_optimizer("main").target.W.array) for t in (third, whole)]
    np.testing.assert_allclose(*weights, rtol=1e-5)


def test_parallel_updater(tmp_path):
    weights = []
    for devices in ({"main": -1, "second": -1}, {"main": "@strict:0", "second": "@strict:1"}):
        optimizer = O.MomentumSGD(0.01).setup(Regression())
        iterator = SerialIterator(make_dataset(), 4, shuffle=False)
        updater = ParallelUpdater(iterator, optimizer, devices=devices)
        Trainer(updater, (5, "iteration"), out=str(tmp_path)).run()
        weights.append(host(optimizer.target.W.array))
    np.testing.assert_allclose(*weights, rtol=1e-5)


def test_multiprocess_parallel_updater(tmp_path):
    weights = []
    for devices in ([-1, -1], ["@strict:0", "@strict:1"]):
        optimizer = O.MomentumSGD(0.01).setup(Regression())
        iterators = [SerialIterator(make_dataset(), 4, shuffle=False) for _ in range(2)]
        with pytest.warns(UserWarning, match="optimizer.lr is changed"):
            updater = MultiprocessParallelUpdater(iterators, optimizer, devices=devices)
        Trainer(updater, (5, "iteration"), out=str(tmp_path)).run()
        weights.append(host(optimizer.target.W.array))
    np.testing.assert_allclose(*weights, rtol=1e-5)


def test_model_on_two_devices():
    """Its parts stay where they are, as in the guide on several GPUs; what is on the CPU moves."""
    model = chainer.ChainList(L.Linear(3, 2), L.Linear(None, 2), L.Linear(2, 1))
    model[0].to_device("@strict:0")
    model[1].to_device("@strict:1")
    start = np.array(host(model[1].b.array))

    def loss(x, t):
        assert get_device_from_array(x).name == "@strict:0"
        h = F.copy(model[1](F.copy(F.tanh(model[0](x)), "@strict:1")), "@strict:0")
        return F.mean_squared_error(model[2](F.tanh(h))[:, 0], t)

    with pytest.warns(FutureWarning, match="Pass input_device instead"):
        updater = StandardUpdater(
            SerialIterator(make_dataset(12), 4, shuffle=False),
            O.MomentumSGD(0.1).setup(model),
            device="@strict:0",
            loss_func=loss,
        )
    updater.update()
    names = [link.device.name for link in model]
    assert names == ["@strict:0", "@strict:1", "@strict:0"]
    assert get_device_from_array(model[1].W.array).name == "@strict:1"
    assert (host(model[1].b.array) != start).all()


def test_input_device():
    """Batches go to the input device, models only to the device."""
    seen = []

    def converter(batch, device):
        seen.append(device)
        return chainer.dataset.concat_examples(batch, device)

    def make(**kwargs):
        optimizer = O.SGD(0.01).setup(Regression())
        iterator = SerialIterator(make_dataset(12), 4)
        updater = StandardUpdater(iterator, optimizer, converter, **kwargs)
        return updater, optimizer.target

    strict = chainer.get_device("@strict:1")
    updater, model = make(input_device="@strict:1")
    assert (updater.device, updater.input_device) == (None, strict)
    assert model.device == chainer.get_device("@numpy")
    model.to_device("@strict:1")
    updater.update()
    assert seen.pop() == strict  # has no number

    updater, model = make(device="@strict:1")
    assert updater.device == updater.input_device == model.device == strict
    updater, model = make(device="@strict:0", input_device="@strict:1")
    assert (updater.device.name, updater.input_device.name) == ("@strict:0", "@strict:1")
    assert model.device == updater.device
    # A model goes to the CPU, too.
    optimizer = O.SGD(0.01).setup(model)
    updater = StandardUpdater(SerialIterator(make_dataset(12), 4), optimizer, converter, device=-1)
    assert model.device == chainer.get_device("@numpy")
    updater.update()
    assert seen.pop() == -1


def test_model_on_another_device_stays():
    model = Regression()
    model.to_device("@strict:1")
    optimizer = O.SGD(0.01).setup(model)
    with pytest.warns(FutureWarning, match="stay there, although the updater was given .*strict:0"):
        StandardUpdater(SerialIterator(make_dataset(12), 4), optimizer, device="@strict:0")
    assert model.device.name == "@strict:1"
    assert get_device_from_array(model.W.array).name == "@strict:1"
