"""More places where releases 4 and 7 differ in training and data; see test_traps_of_release_7."""

from __future__ import annotations

import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.datasets import ConcatenatedDataset, split_dataset
from chainer.training import extensions, triggers
from tests.training.small_training import Regression, make_dataset, make_trainer


class TestOptimizers:
    def test_epochs(self, tmp_path):
        """They advance by themselves, for all optimizers; calls by hand are accepted."""
        one, two = (optimizers.SGD(0.01).setup(Regression()) for _ in range(2))
        iterator = iterators.SerialIterator(make_dataset(10), 5)
        updater = training.StandardUpdater(iterator, {"main": one, "two": two})
        training.Trainer(updater, (3, "epoch"), out=str(tmp_path)).run()
        assert one.epoch == two.epoch == 3

    # A program for release 4 counts epochs by itself. In release 7, update_core() of the base class
    # counts, and new_epoch(auto=True) after it counts once more.
    @pytest.mark.parametrize(("auto", "expected"), [(False, 3), (True, 6)])
    def test_epochs_that_are_counted_by_the_program(self, tmp_path, auto, expected):
        class Own(training.StandardUpdater):
            def update_core(self):
                super().update_core()
                if self.is_new_epoch:
                    self.get_optimizer("main").new_epoch(auto=auto)

        iterator = iterators.SerialIterator(make_dataset(10), 5)
        updater = Own(iterator, optimizers.SGD(0.01).setup(Regression()))
        training.Trainer(updater, (3, "epoch"), out=str(tmp_path)).run()
        assert updater.get_optimizer("main").epoch == expected

    def test_names_of_hooks(self):
        optimizer = optimizers.SGD().setup(L.Linear(1, 1))

        def function(optimizer): ...

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.add_hook(function)
        with pytest.raises(KeyError):
            optimizer.add_hook(function)
        rule = optimizer.target.W.update_rule
        rule.add_hook(lambda rule, param: None, "a")
        with pytest.raises(KeyError):
            rule.add_hook(lambda rule, param: None, "a")

    def test_adam_in_half_precision(self):
        """With the default eps, which is zero in float16."""
        with chainer.using_config("dtype", np.float16):
            link = L.Linear(2, 1)
        optimizer = optimizers.Adam().setup(link)
        before = link.W.array.copy()
        optimizer.update(lambda: F.sum(link(np.ones((1, 2), np.float16))))
        assert np.isfinite(link.W.array).all()
        np.testing.assert_allclose(link.W.array, before - 0.001, atol=1e-3)

    def test_learning_rate_of_adam(self):
        optimizer = optimizers.Adam(alpha=0.1).setup(L.Linear(1, 1))
        optimizer.update(lambda: F.sum(optimizer.target(np.ones((1, 1), "f"))))
        assert optimizer.lr == pytest.approx(0.1 * 0.001**0.5 / 0.1)

    def test_negative_device(self):
        updater = training.StandardUpdater(
            iterators.SerialIterator(make_dataset(4), 2),
            optimizers.SGD().setup(Regression().to_device("@strict:0")),
            device=-1,
        )
        assert updater.get_optimizer("main").target.device.name == "@numpy"

    def test_static_parameters_of_a_disabled_rule(self):
        source, target = (optimizers.MomentumSGD().setup(L.Linear(1, 1)) for _ in range(2))
        source.target.disable_update()
        source.update(lambda: F.sum(source.target(np.ones((1, 1), "f"))))
        target.target.disable_update()
        saved = serializers.DictionarySerializer()
        saved.save(source)
        serializers.NpzDeserializer(saved.target).load(target)
        assert not target.target.W.update_rule.state


class TestTrainers:
    def test_second_run_after_an_exception(self, tmp_path):
        trainer = make_trainer(tmp_path, (3, "iteration"))
        fails = iter([False, True, False, False])

        @trainer.extend
        def fail(trainer):
            if next(fails):
                raise ValueError("once")

        with pytest.raises(ValueError, match="once"):
            trainer.run(show_loop_exception_msg=False)
        trainer.run()
        assert trainer.updater.iteration == 3

    def test_calls_before_training_are_not_for_resumed_ones(self, tmp_path):
        calls = []
        for stop in (1, 2):
            trainer = make_trainer(tmp_path, (stop, "iteration"))
            trainer.extend(
                lambda t: calls.append(t.updater.iteration),
                name="a",
                trigger=(100, "iteration"),
                call_before_training=True,
            )
            if stop == 2:
                serializers.load_npz(tmp_path / "snapshot", trainer)
            trainer.run()
            serializers.save_npz(tmp_path / "snapshot", trainer)
        assert calls == [0]

    @pytest.mark.parametrize(
        "make",
        [triggers.IntervalTrigger, triggers.ManualScheduleTrigger],
        ids=["interval", "manual"],
    )
    def test_units(self, make):
        with pytest.raises(ValueError, match="hour"):
            make(1, "hour")

    def test_period_of_zero(self):
        with pytest.raises(ValueError, match="period"):
            triggers.IntervalTrigger(0, "epoch")

    def test_interval_that_is_first_called_late(self, tmp_path):
        trainer = make_trainer(tmp_path, (10, "iteration"))
        trainer.run()
        trigger = triggers.IntervalTrigger(4, "iteration")
        assert trigger(trainer)
        assert not trigger(trainer)

    def test_snapshots_without_states_of_triggers(self):
        best = triggers.MaxValueTrigger("a")
        best.best_value = 3.0
        best.serialize(serializers.NpzDeserializer({}, strict=False))
        assert best.best_value == 3.0
        with pytest.warns(UserWarning, match="has no entry") as caught:
            triggers.ManualScheduleTrigger([1], "epoch").serialize(serializers.NpzDeserializer({}))
        assert len(caught) == 3  # both positions, and whether it is finished

    def test_default_name_of_a_statistics_plot(self):
        pytest.importorskip("matplotlib")
        plot = extensions.VariableStatisticsPlot([chainer.Parameter(0.0, ())], file_name=None)
        assert plot._filename == "statistics.png"

    def test_scope_of_a_reporter_after_an_exception(self):
        reporter, observation = chainer.Reporter(), {}
        outer = reporter.observation
        with pytest.raises(RuntimeError), reporter.scope(observation):
            raise RuntimeError
        assert reporter.observation is outer

    def test_weighted_observations(self):
        summary = chainer.DictSummary()
        summary.add({"a": (1.0, 3), "b": 2.0})
        summary.add({"a": (5.0, 1), "b": 4.0})
        assert summary.compute_mean() == {"a": 2.0, "b": 3.0}
        with pytest.raises(ValueError, match="weight"):
            summary.add({"a": (1.0, np.ones(1))})

    def test_scalars_of_other_kinds_in_files(self):
        load = serializers.NpzDeserializer({"x": np.array(1.5)})
        with pytest.raises(TypeError, match="Cannot safely deserialize"):
            load("x", 1)
        with pytest.raises(TypeError):
            serializers.DictionarySerializer()("x", object())


class TestData:
    def test_batch_larger_than_the_dataset(self):
        iterator = iterators.SerialIterator([0, 1, 2], 7, shuffle=False)
        assert iterator.next() == [0, 1, 2, 0, 1, 2, 0]
        assert (iterator.epoch, iterator.current_position) == (2, 1)

    def test_order_sampler_of_numpy(self):
        """The orders of 7.8.1, which draws one permutation for each epoch."""
        sampler = iterators.ShuffleOrderSampler(np.random.RandomState(3))
        iterator = iterators.SerialIterator(list(range(5)), 5, order_sampler=sampler)
        expected = np.random.RandomState(3)
        for _ in range(3):
            assert iterator.next() == expected.permutation(5).tolist()

    def test_a_finalized_iterator_with_processes(self):
        """As in both releases, whose programs catch this error; one with threads goes on."""
        iterator = iterators.MultiprocessIterator([1, 2], 1, shuffle=False, n_processes=1)
        assert iterator.next() == [1]
        iterator.finalize()
        with pytest.raises(NotImplementedError, match="make a new one"):
            iterator.reset()
        threads = iterators.MultithreadIterator([1, 2], 1, shuffle=False, n_threads=1)
        assert threads.next() == [1]
        threads.finalize()
        threads.reset()
        assert threads.next() == [1]
        threads.finalize()

    def test_a_pickled_iterator_with_processes(self):
        iterator = iterators.MultiprocessIterator([1, 2, 3], 1, shuffle=False, n_processes=1)
        iterator.next()
        copy = pickle.loads(pickle.dumps(iterator))
        assert copy.next() == [2]
        for one in (iterator, copy):
            one.finalize()

    def test_names_of_folds(self):
        folds = chainer.datasets.get_cross_validation_datasets
        assert len(folds(list(range(6)), n_folds=3)) == 3
        with pytest.warns(DeprecationWarning, match="n_fold"):
            assert len(folds(list(range(6)), n_fold=3)) == 3
        random = chainer.datasets.get_cross_validation_datasets_random
        with pytest.warns(DeprecationWarning, match="n_fold"):
            assert len(random(list(range(6)), n_fold=2)) == 2

    def test_positions(self):
        first, second = split_dataset([1, 2], 2)
        assert (len(first), len(second)) == (2, 0)
        assert ConcatenatedDataset([1, 2], [3])[-1] == 3

    def test_configured_dtype_of_images(self, tmp_path):
        image = pytest.importorskip("PIL.Image")
        image.fromarray(np.zeros((2, 2, 3), np.uint8)).save(tmp_path / "a.png")
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.write(tmp_path / "a.png", "a.png")
        with chainer.using_config("dtype", np.dtype(np.float64)):
            dataset = chainer.datasets.ImageDataset([str(tmp_path / "a.png")])
        assert dataset[0].dtype == np.float64
        archive = chainer.datasets.ZippedImageDataset(str(tmp_path / "a.zip"))
        assert archive.get_example("a.png").shape == (3, 2, 2)

    def test_tuples_of_unequal_lengths(self):
        with pytest.raises(ValueError):
            chainer.dataset.concat_examples([(1, 2), (1,)])

    @pytest.mark.parametrize("key", ["order", "_order"])
    def test_states_of_release_4(self, key):
        iterator = iterators.MultithreadIterator(list(range(4)), 2, n_threads=1)
        saved = {
            "current_position": np.array(2),
            "epoch": np.array(1),
            "is_new_epoch": np.array(False),
            key: np.array([3, 1, 0, 2]),
            "previous_epoch_detail": np.array(1.0),
        }
        iterator.serialize(serializers.NpzDeserializer(saved))
        assert iterator.next() == [0, 2]
        iterator.finalize()

    def test_devices_of_converters(self):
        """Device objects for converters of release 7, numbers or None for functions."""
        seen = []

        @chainer.dataset.converter()
        def new(batch, device):
            seen.append(device)
            return chainer.dataset.concat_examples(batch)

        def old(batch, device=None):
            seen.append(device)
            return chainer.dataset.concat_examples(batch)

        for converter in (new, old):
            iterator = iterators.SerialIterator(make_dataset(4), 2)
            optimizer = optimizers.SGD(0.01).setup(Regression())
            updater = training.StandardUpdater(iterator, optimizer, converter, device="@numpy")
            updater.update()
        assert seen == [chainer.get_device("@numpy"), -1]

    def test_extra_images_of_svhn(self):
        with pytest.raises(TypeError):
            chainer.datasets.get_svhn(extra=True)
        assert "add_extra" in chainer.datasets.get_svhn.__code__.co_varnames
        assert os.path.exists(chainer.datasets.svhn.__file__)
