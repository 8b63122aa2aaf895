"""Where releases 4 and 7 differ in training and data: what programs of either one rely on."""

from __future__ import annotations

import copy
import gc
import io
import threading
import warnings

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import serializers, training
from chainer.training import extensions, triggers


def make_trainer(out, length=(2, "iteration"), n=4):
    model = L.Classifier(L.Linear(2, 2))
    optimizer = chainer.optimizers.SGD(0.1).setup(model)
    data = [(np.full(2, i, "f"), np.int32(i % 2)) for i in range(n)]
    iterator = chainer.iterators.SerialIterator(data, 2, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer)
    return training.Trainer(updater, length, out=str(out))


class TestOptimizers:
    def test_loss_scale_of_a_parameter_in_hooks(self):
        """WeightDecay of release 7 multiplies by param._loss_scale unless that is None."""
        link = L.Linear(2, 1)
        optimizer = chainer.optimizers.SGD(0.0).setup(link)
        optimizer.loss_scaling(scale=8.0)
        seen = []

        def hook(rule, param):
            seen.append((param._loss_scale, float(np.abs(param.grad).max())))

        hook.call_for_each_param = True
        optimizer.add_hook(hook, "hook", timing="pre")
        optimizer.update(lambda: F.sum(link(np.ones((1, 2), "f"))))
        assert seen == [(None, 1.0)] * 2

    def test_none_switches_loss_scaling_off(self):
        optimizer = chainer.optimizers.SGD().setup(L.Linear(1, 1))
        optimizer.set_loss_scale(4.0)
        optimizer.set_loss_scale(None)
        assert optimizer._loss_scale is None

    def test_hooks_without_any_name(self):
        class Hook:
            def __call__(self, optimizer): ...

        with pytest.raises(ValueError, match="name"):
            chainer.optimizers.SGD().setup(L.Linear(1, 1)).add_hook(Hook())

    def test_all_hooks_are_called_through_call_hook(self):
        calls = []

        class Own(chainer.optimizers.SGD):
            def call_hook(self, hook):
                calls.append(hook)
                super().call_hook(hook)

        optimizer = Own().setup(L.Linear(1, 1))
        hook = chainer.optimizer_hooks.WeightDecay(0.1)
        optimizer.add_hook(hook)
        optimizer.update(lambda: F.sum(optimizer.target(np.ones((1, 1), "f"))))
        assert calls == [hook]

    def test_master_copy_is_a_parameter(self):
        with chainer.using_config("dtype", np.float16):
            link = L.Linear(2, 1)
        optimizer = chainer.optimizers.SGD().setup(link)
        optimizer.use_fp32_update()
        types_seen = []
        link.W.update_rule.add_hook(
            lambda rule, param: types_seen.append((type(param), param.dtype, param.name)), "spy"
        )
        optimizer.update(lambda: F.sum(link(np.ones((1, 2), np.float16))))
        assert types_seen == [(chainer.Parameter, np.float32, "W")]

    def test_time_of_a_rule_in_its_hooks(self):
        link = L.Linear(1, 1)
        optimizer = chainer.optimizers.SGD().setup(link)
        seen = []
        link.W.update_rule.add_hook(lambda rule, param: seen.append((rule.t, optimizer.t)), "t")
        optimizer.update(lambda: F.sum(link(np.ones((1, 1), "f"))))
        assert seen == [(1, 1)]

    def test_keywords_of_rules(self):
        from chainer.optimizers.adam import AdamRule
        from chainer.optimizers.momentum_sgd import MomentumSGDRule

        rule = AdamRule(alpha=0.5)
        assert (rule.hyperparam.alpha, rule.hyperparam.beta1) == (0.5, 0.9)
        assert MomentumSGDRule(momentum=0.5).hyperparam.get_dict() == {"lr": 0.01, "momentum": 0.5}


class TestTrainers:
    def test_extension_without_call(self):
        class Silent(training.Extension):
            pass

        with pytest.raises(NotImplementedError):
            Silent()(None)

    def test_functions_get_their_names(self, tmp_path):
        trainer = make_trainer(tmp_path)

        def report(trainer): ...

        trainer.extend(report)
        assert report.name == "report"

        def again(trainer): ...

        trainer.extend(again, name="report")
        assert again.name == "report_1"

    def test_names_of_snapshots(self, tmp_path):
        trainer = make_trainer(tmp_path)
        snapshot = extensions.snapshot()
        trainer.extend(snapshot)
        assert trainer.get_extension("snapshot") is trainer.get_extension("_Snapshot") is snapshot

    def test_finished_triggers_skip_initialize(self, tmp_path):
        class Once(training.Extension):
            trigger = triggers.OnceTrigger()
            calls = 0

            def initialize(self, trainer):
                type(self).calls += 1

            def __call__(self, trainer): ...

        first = make_trainer(tmp_path)
        first.extend(Once())
        first.run()
        assert Once.calls == 1
        serializers.save_npz(tmp_path / "snapshot", first)
        Once.trigger = triggers.OnceTrigger()
        second = make_trainer(tmp_path, (4, "iteration"))
        second.extend(Once())
        serializers.load_npz(tmp_path / "snapshot", second)
        second.run()
        assert Once.calls == 1

    def test_what_savefun_gets(self, tmp_path):
        """The object, as in release 4, and its arrays by name, as in release 7; the final name."""
        seen = []

        def savefun(path, target):
            seen.append((str(path).rsplit("/", 1)[-1], sorted(target), target.count_params()))
            with open(path, "wb") as file:
                np.savez(file, **target)

        trainer = make_trainer(tmp_path, (1, "iteration"))
        model = trainer.updater.get_optimizer("main").target
        name = "model_{.updater.iteration}.npz"
        snapshot = extensions.snapshot_object(model, name, savefun=savefun)
        trainer.extend(snapshot, trigger=(1, "iteration"))
        trainer.run()
        assert seen == [("model_1.npz", ["predictor/W", "predictor/b"], 6)]
        assert (tmp_path / "model_1.npz").exists()

    def test_count_of_an_interval(self):
        assert triggers.IntervalTrigger(1, "epoch").count == 0

    def test_old_and_new_keywords(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            assert extensions.LogReport(log_name="a")._filename == "a"
            assert extensions.DumpGraph("loss", out_name="g") is not None
            assert triggers.EarlyStoppingTrigger(patients=5).patience == 5
        assert extensions.LogReport(filename="b")._filename == "b"
        for name in ("out_name", "filename"):
            assert type(extensions.dump_graph("loss", **{name: "g"})) is extensions.DumpGraph
        assert extensions.dump_graph.default_name == extensions.DumpGraph.default_name
        with pytest.raises(TypeError):
            triggers.EarlyStoppingTrigger(patients=5, patience=4)

    def test_statistics_of_the_caller_stay(self):
        given = {"mean": np.mean}
        extension = extensions.ParameterStatistics(L.Linear(1, 1), statistics=given)
        extension.register_statistics("max", np.max)
        assert list(given) == ["mean"]

    def test_devices_of_the_caller_stay(self):
        from chainer.training.updaters import ParallelUpdater

        model = L.Classifier(L.Linear(2, 2))
        devices = {"main": -1, "second": -1}
        iterator = chainer.iterators.SerialIterator([(np.ones(2, "f"), np.int32(0))] * 4, 2)
        ParallelUpdater(iterator, chainer.optimizers.SGD().setup(model), devices=devices)
        assert devices == {"main": -1, "second": -1}

    def test_report_of_another_thread(self):
        reporter = chainer.Reporter()
        with reporter:
            thread = threading.Thread(target=chainer.report, args=({"x": 1},))
            thread.start()
            thread.join()
        assert reporter.observation == {}

    def test_timer_hook_takes_file_and_unit_in_either_order(self):
        hook = chainer.function_hooks.TimerHook()
        with hook:
            F.relu(np.ones(2, "f"))
        texts = []
        for arguments in (("ms", None), (None, "ms")):
            stream = io.StringIO()
            hook.print_report(*(stream if argument is None else argument for argument in arguments))
            texts.append(stream.getvalue())
        assert texts[0] == texts[1]
        assert "ms" in texts[0]

    def test_graph_of_one_variable(self):
        y = F.relu(chainer.Variable(np.ones((3, 2), "f")))
        graph = chainer.computational_graph.build_computational_graph(y)
        assert len(graph.edges) == 2

    def test_accumulators_are_floats(self):
        summary = chainer.Summary()
        summary.add(3)
        target: dict = {}
        summary.serialize(serializers.DictionarySerializer(target))
        assert (target["_x"].dtype.kind, target["_x2"].dtype.kind) == ("f", "f")

    def test_uninitialized_parameters_in_files(self, tmp_path):
        serializers.save_npz(tmp_path / "file", L.Linear(None, 2))
        link = L.Linear(None, 2)
        serializers.load_npz(tmp_path / "file", link)
        assert link.W.array is None


class TestData:
    def test_iterators_are_finalized(self):
        calls = []

        class Own(chainer.dataset.Iterator):
            def finalize(self):
                calls.append("finalize")

        with Own():
            pass
        assert calls[:1] == ["finalize"]
        calls.clear()
        Own()
        gc.collect()
        assert "finalize" in calls

    def test_state_of_an_iterator_can_be_set(self):
        iterator = chainer.iterators.SerialIterator(list(range(5)), 2, shuffle=False)
        iterator.current_position, iterator.epoch = 3, 7
        assert iterator.next() == [3, 4]
        assert iterator.epoch == 8

    def test_datasets_without_slices(self):
        class OnlyIndexes:
            def __len__(self):
                return 3

            def __getitem__(self, i):
                return [10, 20, 30][int(i)]

        iterator = chainer.iterators.SerialIterator(OnlyIndexes(), 2, shuffle=False)
        assert iterator.next() == [10, 20]

    def test_whole_dataset_as_first_part(self):
        one, other = chainer.datasets.split_dataset([1, 2], 2)
        assert (len(one), len(other)) == (2, 0)

    def test_transfer_without_a_gpu(self):
        convert = chainer.dataset.ConcatWithAsyncTransfer()
        assert convert([np.ones(2), np.zeros(2)]).shape == (2, 2)

    def test_shallow_copies_of_iterators_are_independent(self):
        iterator = chainer.iterators.SerialIterator(list(range(5)), 2, shuffle=False)
        other = copy.copy(iterator)
        assert (iterator.next(), other.next()) == ([0, 1], [0, 1])
