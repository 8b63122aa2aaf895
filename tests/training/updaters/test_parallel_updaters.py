from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import optimizers
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.trainer import Trainer
from chainer.training.updaters.multiprocess_parallel_updater import MultiprocessParallelUpdater
from chainer.training.updaters.parallel_updater import ParallelUpdater
from chainer.training.updaters.standard_updater import StandardUpdater
from tests.training.small_training import Regression, make_dataset

DEVICES = {"main": -1, "second": -1, "third": -1}


def standard(lazy=False):
    optimizer = optimizers.MomentumSGD(0.01).setup(Regression(lazy))
    return StandardUpdater(SerialIterator(make_dataset(12), 6, shuffle=False), optimizer)


def parallel(lazy=False, **kwargs):
    optimizer = optimizers.MomentumSGD(0.01).setup(Regression(lazy))
    iterator = SerialIterator(make_dataset(12), 6, shuffle=False)
    return ParallelUpdater(iterator, optimizer, **{"devices": DEVICES, **kwargs})


def multiprocess(lazy=False, devices=DEVICES):
    # Three iterators which together see the batches of the one above.
    dataset = make_dataset(12)
    iterators = [
        SerialIterator([dataset[j] for j in range(i, 12, 3)], 2, shuffle=False) for i in range(3)
    ]
    # The updater divides the learning rate by the number of devices.
    optimizer = optimizers.MomentumSGD(0.03).setup(Regression(lazy))
    with pytest.warns(UserWarning, match=r"optimizer.lr is changed to 0.0\d+ by Multiprocess"):
        return MultiprocessParallelUpdater(iterators, optimizer, devices=devices)


def run(updater, out, steps=6):
    trainer = Trainer(updater, (steps, "iteration"), out=str(out))
    trainer.run()
    return updater.get_optimizer("main").target.W.array


@pytest.mark.parametrize("make", [parallel, multiprocess])
@pytest.mark.parametrize("lazy", [False, True])
def test_same_as_one_device(make, lazy, tmp_path):
    # The loss is a sum over examples, as the gradients of the devices are summed.
    expected = run(standard(lazy), tmp_path)
    np.testing.assert_allclose(run(make(lazy), tmp_path), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("make", [parallel, multiprocess])
def test_resume(make, tmp_path):
    whole = run(make(), tmp_path)
    first = make()
    trainer = Trainer(first, (3, "iteration"), out=str(tmp_path))
    trainer.extend(
        lambda t: save_npz(tmp_path / "snapshot", t), name="save", trigger=(3, "iteration")
    )
    trainer.run()
    second = make()
    trainer = Trainer(second, (6, "iteration"), out=str(tmp_path))
    load_npz(tmp_path / "snapshot", trainer, strict=False)
    trainer.run()
    np.testing.assert_array_equal(second.get_optimizer("main").target.W.array, whole)


class TestParallelUpdater:
    def test_reports_of_all_models(self, tmp_path):
        trainer = Trainer(parallel(), (1, "iteration"), out=str(tmp_path))
        trainer.run()
        assert set(trainer.observation) == {"main/loss", "second/loss", "third/loss"}

    def test_batch_smaller_than_the_number_of_devices(self, tmp_path):
        optimizer = optimizers.SGD(0.01).setup(Regression())
        iterator = SerialIterator(make_dataset(4), 2, shuffle=False)
        run(ParallelUpdater(iterator, optimizer, devices=DEVICES), tmp_path)
        assert np.isfinite(optimizer.target.W.array).all()

    def test_loss_scale(self, tmp_path):
        scaled = run(parallel(loss_scale=256.0), tmp_path)
        np.testing.assert_allclose(scaled, run(parallel(), tmp_path), rtol=1e-5)

    def test_given_models(self):
        main, other = Regression(), Regression()
        other.W.array[...] = 7
        optimizer = optimizers.SGD(0.01).setup(main)
        iterator = SerialIterator(make_dataset(), 4)
        updater = ParallelUpdater(iterator, optimizer, models={"main": main, "other": other})
        updater.update()
        np.testing.assert_array_equal(main.W.array, other.W.array)
        assert main.W.array is not other.W.array

    def test_copies_do_not_share_parameters(self):
        updater = parallel()
        models = updater._models
        assert models["second"].W is not models["main"].W
        assert models["second"].W.update_rule is None

    def test_bad_arguments(self):
        with pytest.raises(ValueError, match="either models or devices must be specified"):
            parallel(devices=None)
        with pytest.raises(KeyError, match="'devices' must contain a 'main' key"):
            parallel(devices={"a": -1})
        with pytest.raises(ValueError, match="must have the same names"):
            parallel(models={"main": Regression()}, devices={"main": -1, "x": -1})
        with pytest.raises(ValueError, match="must be the target of the 'main' optimizer"):
            parallel(models={"main": Regression()}, devices={"main": -1})


class Fails(Regression):
    def forward(self, x, t):
        if os.getpid() != self.main_process:
            raise ValueError("boom in a worker")
        return super().forward(x, t)


class Dies(Regression):
    def forward(self, x, t):
        if os.getpid() != self.main_process:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().forward(x, t)


class TestMultiprocessParallelUpdater:
    def test_available(self):
        assert MultiprocessParallelUpdater.available()

    def test_devices_as_a_list(self, tmp_path):
        expected = run(multiprocess(), tmp_path)
        np.testing.assert_array_equal(run(multiprocess(devices=[-1, -1, -1]), tmp_path), expected)

    @pytest.mark.parametrize(
        ("cls", "message"),
        [
            (Fails, r"worker process 1 of the updater failed:\nTraceback(.|\n)*boom in a worker"),
            (Dies, r"worker process 1 of the updater died \(exit code -9\)"),
        ],
    )
    def test_errors_in_workers(self, cls, message, tmp_path):
        model = cls()
        model.main_process = os.getpid()
        iterators = [SerialIterator(make_dataset(), 2) for _ in range(2)]
        with pytest.warns(UserWarning, match="optimizer.lr is changed"):
            updater = MultiprocessParallelUpdater(
                iterators, optimizers.SGD().setup(model), devices=[-1, -1]
            )
        trainer = Trainer(updater, (3, "iteration"), out=str(tmp_path))
        with pytest.raises(RuntimeError, match=message):
            trainer.run(show_loop_exception_msg=False)
        assert updater._workers == []

    def test_workers_end_with_the_training(self, tmp_path):
        updater = multiprocess()
        trainer = Trainer(updater, (2, "iteration"), out=str(tmp_path))
        processes = []
        trainer.extend(
            lambda t: processes.extend(worker._process for worker in updater._workers), name="look"
        )
        trainer.run()
        assert len(processes) == 4
        assert not any(process.is_alive() for process in processes)

    @pytest.mark.parametrize(
        ("name", "attribute", "expected"),
        [
            ("SGD", "lr", 0.5),
            ("SMORMS3", "lr", 0.5),
            ("Adam", "eps", 2.0),
            ("AMSBound", "eps", 2.0),
            ("AdaGrad", "eps", 2.0),
            ("RMSprop", "eps", 2.0),
            ("RMSpropGraves", "eps", 4.0),
            ("AdaDelta", "eps", 4.0),
        ],
    )
    def test_hyperparameters(self, name, attribute, expected):
        optimizer = getattr(optimizers, name)().setup(Regression())
        setattr(optimizer, attribute, 1.0)
        devices = {"main": -1, "other": "@numpy"}
        iterators = [SerialIterator(make_dataset(), 2) for _ in devices]
        with pytest.warns(UserWarning, match=f"{attribute} is changed to {expected}"):
            MultiprocessParallelUpdater(iterators, optimizer, devices=devices)
        assert getattr(optimizer, attribute) == expected
        assert devices == {"main": -1, "other": "@numpy"}

    def test_loading_too_late(self, tmp_path):
        updater = multiprocess()
        save_npz(tmp_path / "state", updater)
        updater.update()
        try:
            with pytest.raises(RuntimeError, match="load a snapshot before the first update"):
                load_npz(tmp_path / "state", updater)
        finally:
            updater.finalize()

    def test_bad_arguments(self):
        optimizer = optimizers.SGD().setup(Regression())
        iterator = SerialIterator(make_dataset(), 2)
        make = MultiprocessParallelUpdater
        with pytest.raises(TypeError, match="must be a list of iterators, .* one SerialIterator"):
            make(iterator, optimizer, devices=[-1])
        with pytest.raises(ValueError, match="one iterator for each device, got 1 iterators and 2"):
            make([iterator], optimizer, devices=[-1, -1])
        with pytest.raises(ValueError, match="devices must be a dictionary or a list"):
            make([iterator], optimizer)
        with pytest.raises(ValueError, match=r"must not contain None, got \[-1, None\]"):
            make([iterator, iterator], optimizer, devices=[-1, None])
        with pytest.raises(KeyError, match="'main'"):
            make([iterator], optimizer, devices={"x": -1})
