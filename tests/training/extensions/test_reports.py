"""LogReport, PrintReport, ProgressBar and what else watches a training."""

from __future__ import annotations

import io
import json
import os
import sys
import types

import numpy as np
import pytest

from chainer.core.autograd.variable import Variable
from chainer.core.reporting.reporter import report
from chainer.links.link import Link
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training import extensions as E
from chainer.training.extensions import notebook_bar
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.trainer import Trainer
from tests.training.small_training import FakeUpdater, make_dataset, make_trainer


class Terminal(io.StringIO):
    def isatty(self):
        return True


def trainer_with(tmp_path, *extensions, stop=(6, "iteration"), value=float):
    """Reports the number of the iteration as 'x'."""
    trainer = Trainer(FakeUpdater(batch=5), stop, out=tmp_path)

    def observe(trainer):
        report({"x": value(trainer.updater.iteration)})

    trainer.extend(observe, priority=400)
    for extension in extensions:
        trainer.extend(extension)
    return trainer


class TestLogReport:
    def test_means_and_counts(self, tmp_path):
        trainer = trainer_with(tmp_path, E.LogReport())
        trainer.run()
        log = json.loads((tmp_path / "log").read_text())
        assert log == trainer.get_extension("LogReport").log
        assert [entry["x"] for entry in log] == [1.5, 3.5, 5.5]
        assert [(entry["epoch"], entry["iteration"]) for entry in log] == [(1, 2), (2, 4), (3, 6)]
        assert 0 < log[0]["elapsed_time"] < log[1]["elapsed_time"]
        assert list(log[0]) == ["x", "epoch", "iteration", "elapsed_time"]

    @pytest.mark.parametrize(
        "value", [np.float32, np.array, lambda i: Variable(np.array(i, np.float32)), int]
    )
    def test_kinds_of_values(self, tmp_path, value):
        trainer_with(tmp_path, E.LogReport(), value=value).run()
        assert json.loads((tmp_path / "log").read_text())[0]["x"] == 1.5

    def test_keys(self, tmp_path):
        trainer_with(tmp_path, E.LogReport(keys=["y"])).run()
        assert "x" not in json.loads((tmp_path / "log").read_text())[0]

    def test_postprocess(self, tmp_path):
        def add(result):
            result["double"] = 2 * result["x"]

        trainer_with(tmp_path, E.LogReport(postprocess=add, trigger=(3, "iteration"))).run()
        assert [e["double"] for e in json.loads((tmp_path / "log").read_text())] == [4, 10]

    @pytest.mark.parametrize(
        "kwargs", [{"log_name": "log_{iteration}"}, {"filename": "log_{iteration}"}]
    )
    def test_file_names(self, tmp_path, kwargs):
        trainer_with(tmp_path, E.LogReport(**kwargs)).run()
        assert sorted(p.name for p in tmp_path.iterdir()) == ["log_2", "log_4", "log_6"]
        assert len(json.loads((tmp_path / "log_4").read_text())) == 2

    def test_the_newer_name_of_the_file_is_preferred(self, tmp_path):
        trainer_with(tmp_path, E.LogReport(filename="new", log_name="old")).run()
        assert [p.name for p in tmp_path.iterdir()] == ["new"]

    def test_the_reason_of_a_stop(self, tmp_path):
        trainer = make_trainer(tmp_path)
        trainer.extend(
            lambda trainer: trainer.stop("enough"),
            name="stopper",
            priority=200,
            trigger=(4, "iteration"),
        )
        trainer.extend(E.LogReport(trigger=(2, "iteration")))
        trainer.run()
        rows = json.loads((tmp_path / "log").read_text())
        assert [row.get("stop_reason") for row in rows] == [None, "enough"]

    def test_no_file(self, tmp_path):
        trainer = trainer_with(tmp_path, E.LogReport(log_name=None))
        trainer.run()
        assert list(tmp_path.iterdir()) == []
        assert len(trainer.get_extension("LogReport").log) == 3

    def test_unknown_argument(self):
        with pytest.raises(TypeError, match="'fname'"):
            E.LogReport(fname="log")


class TestPrintReport:
    def test_table(self, tmp_path):
        out = io.StringIO()
        entries = ["epoch", "iteration", "x", "missing", "a_name_that_is_long", "text"]

        def postprocess(result):
            result["a_name_that_is_long"] = 1 / 3
            result["text"] = "hello"

        trainer_with(
            tmp_path, E.LogReport(postprocess=postprocess), E.PrintReport(entries, out=out)
        ).run()
        # As release 7.8.1 prints it, with the spaces after the last columns.
        row = "{}           {}           {}                     0.333333             hello       \n"
        assert out.getvalue() == (
            "epoch       iteration   x           missing     a_name_that_is_long  text      \n"
            + "".join([row.format(i, 2 * i, 2 * i - 0.5) for i in (1, 2, 3)])
        )

    def test_column_names_are_printed_at_the_first_call(self, tmp_path):
        out, seen = io.StringIO(), []
        trainer = trainer_with(tmp_path, E.LogReport(), E.PrintReport(["epoch"], out=out))
        trainer.extend(lambda _: seen.append(out.getvalue()), "look", (1, "iteration"), 0)
        trainer.run()
        assert seen[0] == "epoch     \n"

    def test_rows_of_a_subclass(self, tmp_path):
        class Own(E.PrintReport):
            def _print(self, observation):
                self._out.write(f"{self._log_len}: {observation['x']}\n")
                self._out.flush()

        out = io.StringIO()
        trainer_with(tmp_path, E.LogReport(), Own(["x"], out=out)).run()
        assert out.getvalue().splitlines()[1:] == ["0: 1.5", "1: 3.5", "2: 5.5"]

    def test_standard_output_is_looked_up_when_printing(self, tmp_path, capsys):
        trainer_with(tmp_path, E.LogReport(), E.PrintReport(["epoch"])).run()
        assert capsys.readouterr().out.split() == ["epoch", "1", "2", "3"]

    def test_log_report_of_its_own(self, tmp_path):
        out = io.StringIO()
        extension = E.PrintReport(["x"], log_report=E.LogReport(log_name=None), out=out)
        trainer_with(tmp_path, extension).run()
        assert out.getvalue().split() == ["x", "1.5", "3.5", "5.5"]
        target = {}
        DictionarySerializer(target).save(extension)
        assert "_log_report/_log" in target

    def test_terminal_is_cleared_below(self, tmp_path):
        out = Terminal()
        trainer_with(tmp_path, E.LogReport(), E.PrintReport(["x"], out=out)).run()
        lines = [line.rstrip() for line in out.getvalue().splitlines()]
        assert lines == ["\033[Jx", "\033[J1.5", "\033[J3.5", "\033[J5.5"]

    def test_resumed_table_is_complete(self, tmp_path):
        first = make_trainer(tmp_path, (2, "epoch"))
        first.extend(E.LogReport())
        first.run()
        out = io.StringIO()
        second = make_trainer(tmp_path, (3, "epoch"))
        second.extend(E.LogReport())
        second.extend(E.PrintReport(["epoch"], out=out), trigger=(1, "epoch"))
        target = {}
        DictionarySerializer(target).save(first)
        from chainer.links.serializers.npz import NpzDeserializer

        NpzDeserializer(target, strict=False).load(second)
        second.run()
        assert out.getvalue().split() == ["epoch", "1", "2", "3"]

    def test_unknown_log_report(self, tmp_path):
        trainer = trainer_with(tmp_path, E.PrintReport(["x"], log_report="nope"))
        with pytest.raises(ValueError, match="extension nope not found"):
            trainer.run(show_loop_exception_msg=False)
        with pytest.raises(TypeError, match="log_report must be"):
            E.PrintReport(["x"], log_report=3)


class TestProgressBar:
    def test_plain_lines_in_a_file(self, tmp_path):
        out = io.StringIO()
        trainer_with(tmp_path, E.ProgressBar(update_interval=2, out=out)).run()
        lines = out.getvalue().splitlines()
        assert len(lines) == 3
        assert "\033" not in out.getvalue()
        assert lines[0].startswith(" 33.33%  2 iter, 1.00 epoch / 6 iterations, ")
        assert lines[2].startswith("100.00%  6 iter, 3.00 epoch / 6 iterations, ")
        assert lines[2].endswith("iters/sec, 0:00:00 left")

    def test_bar_on_a_terminal(self, tmp_path):
        out = Terminal()
        trainer_with(
            tmp_path, E.ProgressBar(update_interval=3, bar_length=10, out=out), stop=(3, "epoch")
        ).run()
        first = out.getvalue().split("\033[4A")[0].splitlines()
        assert first[0] == "\033[J     total [#####.....] 50.00%"
        assert first[1] == "this epoch [#####.....] 50.00%"
        assert first[2] == "         3 iter, 1 epoch / 3 epochs"
        assert first[3].endswith("iters/sec. Estimated time to finish: 0:00:00.")
        assert out.getvalue().endswith("\033[4A\033[J")

    @pytest.mark.parametrize(("columns", "bar"), [(100, 50), (60, 38), (10, 1)])
    def test_narrow_terminal(self, tmp_path, columns, bar):
        pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
        leader, follower = pty.openpty()
        try:
            termios.tcsetwinsize(follower, (24, columns))
            with open(follower, "w") as out:
                extension = E.ProgressBar(update_interval=6, out=out)
                trainer_with(tmp_path, extension).run()
                lines = os.read(leader, 10000).decode().replace("\r", "").splitlines()
        finally:
            os.close(leader)
        lines[0] = lines[0].removeprefix("\033[J")
        assert lines[4].startswith("\033[4A")
        assert all(len(line) < columns for line in lines[:4])
        full = f"     total [{'#' * bar}] 100.00%"
        assert lines[0] == full[: columns - 1]

    def test_notebook(self, tmp_path, monkeypatch, capsys):
        """One bar that is drawn in place, by tqdm; without widgets it is a line of text."""
        pytest.importorskip("tqdm")
        monkeypatch.setattr(notebook_bar, "in_notebook", lambda: True)
        trainer_with(tmp_path, E.ProgressBar(update_interval=2)).run()
        shown = capsys.readouterr().out
        assert shown.count("\n") == 1
        drawn = [text.rstrip() for text in shown.split("\r") if text.strip()]
        (line,) = [line for line in drawn if " 2 iter" in line]
        assert line.startswith(" 33%|")
        assert "2 iter, 1.00 epoch / 6 iterations, " in line
        assert drawn[-1].startswith("100%|")
        assert drawn[-1].endswith("iters/sec, 0:00:00 left")

    def test_notebook_without_length_or_tqdm(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(notebook_bar, "in_notebook", lambda: True)
        stop = lambda trainer: trainer.updater.iteration == 2
        trainer_with(tmp_path, E.ProgressBar(update_interval=1), stop=stop).run()
        shown = capsys.readouterr().out
        assert "2 iter, 1.00 epoch, " in shown
        assert "%" not in shown
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # its import fails
        trainer_with(tmp_path, E.ProgressBar(update_interval=1), stop=stop).run()
        # The next line is due in the next minute.
        assert capsys.readouterr().out.count("\n") in (1, 2)

    @pytest.mark.parametrize(("epochs", "interval", "lines"), [(2, 1, 4), (50, 1, 11), (50, 30, 3)])
    def test_log_of_a_job_is_short(self, tmp_path, capsys, epochs, interval, lines):
        bar = E.ProgressBar(update_interval=interval)
        trainer_with(tmp_path, bar, stop=(epochs, "epoch")).run()
        shown = capsys.readouterr().out.splitlines()
        assert len(shown) == lines
        assert "\033" not in "".join(shown) and "\r" not in "".join(shown)
        if 2 * epochs % interval == 0:
            assert shown[-1].startswith("100.00%")

    def test_a_stream_is_not_a_notebook(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(notebook_bar, "in_notebook", lambda: True)
        out = io.StringIO()
        trainer_with(tmp_path, E.ProgressBar(update_interval=2, out=out)).run()
        assert len(out.getvalue().splitlines()) == 3
        assert capsys.readouterr().out == ""

    def test_what_a_notebook_is(self, monkeypatch):
        assert not notebook_bar.in_notebook()
        for kernel in (None, object()):
            shell = types.SimpleNamespace(kernel=kernel)
            ipython = types.SimpleNamespace(get_ipython=lambda shell=shell: shell)
            monkeypatch.setitem(sys.modules, "IPython", ipython)
            assert notebook_bar.in_notebook() == (kernel is not None)

    @pytest.mark.parametrize("name", ["update_interval", "bar_length"])
    def test_bad_numbers(self, name):
        with pytest.raises(ValueError, match=f"{name} must be positive, got 0"):
            E.ProgressBar(**{name: 0})

    def test_unknown_length(self, tmp_path):
        out = io.StringIO()
        trainer = trainer_with(
            tmp_path,
            E.ProgressBar(update_interval=1, out=out),
            stop=lambda trainer: trainer.updater.iteration == 1,
        )
        trainer.run()
        assert out.getvalue().startswith("1 iter, 0.50 epoch, ")
        assert "unknown left" in out.getvalue()

    def test_given_length(self, tmp_path):
        out = io.StringIO()
        extension = E.ProgressBar((12, "iteration"), update_interval=6, out=out)
        trainer_with(tmp_path, extension).run()
        assert out.getvalue().startswith(" 50.00%  6 iter")

    def test_nothing_to_remove(self, tmp_path):
        out = Terminal()
        trainer_with(tmp_path, E.ProgressBar(out=out)).run()
        assert out.getvalue() == ""


class TestObservations:
    def test_observe_value(self, tmp_path):
        trainer = trainer_with(
            tmp_path, E.observe_value("y", lambda t: 2 * t.updater.iteration), E.LogReport()
        )
        trainer.run()
        assert [e["y"] for e in trainer.get_extension("LogReport").log] == [4, 8, 12]

    def test_observe_lr(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "epoch"))
        trainer.extend(E.observe_lr())
        trainer.extend(E.observe_lr(observation_key="rate"))
        trainer.run()
        assert trainer.observation["lr"] == trainer.observation["rate"] == 0.01

    def test_micro_average(self, tmp_path):
        trainer = Trainer(FakeUpdater(batch=5), (4, "iteration"), out=tmp_path)

        def observe(trainer):
            i = trainer.updater.iteration
            report({"n": Variable(np.array(i % 3)), "d": np.float32(i)})

        seen = []
        trainer.extend(observe, priority=400)
        trainer.extend(E.MicroAverage("n", "d", "ratio"))
        trainer.extend(lambda t: seen.append(t.observation.get("ratio")), name="look")
        trainer.run()
        assert seen == [None, (1 + 2) / (1 + 2), None, (0 + 1) / (3 + 4)]

    def test_micro_average_of_values_that_are_reported_at_times(self, tmp_path):
        # What releases 4.3.1 and 7.8.1 do.
        trainer = Trainer(FakeUpdater(batch=2), (8, "iteration"), out=tmp_path)

        def observe(trainer):
            i = trainer.updater.iteration
            report({"n": i} if i % 2 else {})
            report({"d": 10} if i % 4 else {})

        seen = []
        trainer.extend(observe, priority=400)
        trainer.extend(E.MicroAverage("n", "d", "ratio", trigger=(2, "iteration")))
        trainer.extend(lambda t: seen.append(t.observation.get("ratio")), name="look")
        trainer.run()
        assert seen == [None, None, 0.2, None, 0.5, None, 0.7, None]

    def test_micro_average_of_evaluations(self, tmp_path):
        trainer = make_trainer(tmp_path, (2, "epoch"))
        iterator = SerialIterator(make_dataset(5), 2, repeat=False, shuffle=False)
        model = trainer.updater.get_optimizer("main").target
        evaluator = E.Evaluator(
            iterator, model, eval_func=lambda x, t: report({"n": 2, "d": len(x)})
        )
        trainer.extend(evaluator)
        trainer.extend(E.MicroAverage("n", "d", "ratio"))
        trainer.run()
        assert trainer.observation["ratio"] == pytest.approx(6 / 5)

    def test_micro_average_of_nothing(self, tmp_path):
        trainer = trainer_with(tmp_path, E.MicroAverage("n", "x", "ratio"))
        with pytest.warns(UserWarning, match="MicroAverage never found 'n' in the observation"):
            trainer.run()

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_fail_on_non_number(self, tmp_path, bad):
        trainer = make_trainer(tmp_path, (5, "iteration"))
        trainer.extend(E.FailOnNonNumber())

        def spoil(trainer):
            if trainer.updater.iteration == 2:
                trainer.updater.get_optimizer("main").target.W.array[1] = bad

        trainer.extend(spoil, priority=500)
        with pytest.raises(RuntimeError, match="'main' diverge.*after 2 iterations: /W"):
            trainer.run(show_loop_exception_msg=False)


class TestParameterStatistics:
    def run(self, tmp_path, **kwargs):
        trainer = make_trainer(tmp_path, (3, "iteration"))
        model = trainer.updater.get_optimizer("main").target
        model.name = "model"
        trainer.extend(E.ParameterStatistics(model, **{"trigger": (3, "iteration"), **kwargs}))
        history = []
        trainer.extend(lambda t: history.append(model.W.array.copy()), name="look")
        trainer.run()
        del trainer.observation["main/loss"]
        return trainer.observation, np.array(history)

    def test_default_statistics(self, tmp_path):
        observation, history = self.run(tmp_path)
        assert len(observation) == 2 * (5 + 7)
        flat = history.reshape(3, -1)
        for name, values in {
            "mean": flat.mean(axis=1),
            "std": flat.std(axis=1),
            "min": flat.min(axis=1),
            "max": flat.max(axis=1),
            "zeros": (flat == 0).sum(axis=1),
            "percentile/3": np.median(flat, axis=1),
        }.items():
            key = f"model/W/data/{name}"
            np.testing.assert_allclose(observation[key], values.mean(), rtol=1e-5)
        assert "model/W/grad/percentile/6" in observation

    def test_chosen_statistics(self, tmp_path):
        observation, _ = self.run(
            tmp_path,
            statistics={"first": lambda x: x[0], "ends": lambda x: (x[0], x[-1])},
            report_grads=False,
            prefix="p",
        )
        assert sorted(observation) == [
            "p/model/W/data/ends/0", "p/model/W/data/ends/1", "p/model/W/data/first",
        ]  # fmt: skip

    def test_on_another_device_than_the_current(self, tmp_path):
        pytest.importorskip("chainer_strict_backend")
        link = Link(W=(2,))
        link.W.array[...] = [3, 1]
        link.to_device("@strict:1")
        trainer = trainer_with(tmp_path, stop=(1, "iteration"))
        trainer.extend(E.ParameterStatistics(link, report_grads=False, trigger=(1, "iteration")))
        trainer.run()
        assert float(trainer.observation["None/W/data/mean"]) == 2

    def test_register_statistics(self):
        extension = E.ParameterStatistics(Link(), statistics=None)
        extension.register_statistics("n", len)
        assert extension._statistics == {"n": len}
        assert "n" not in E.ParameterStatistics.default_statistics

    def test_skip_nan(self, tmp_path):
        link = Link(W=(2,))
        link.W.array[...] = [np.nan, 1]
        link.W.cleargrad()
        trainer = trainer_with(tmp_path, stop=(1, "iteration"))
        trainer.extend(
            E.ParameterStatistics(link, {"max": lambda x: 1 / 0}, skip_nan_params=True,
                                  trigger=(1, "iteration"))
        )  # fmt: skip
        trainer.run()
        assert np.isnan(trainer.observation["None/W/data/max"])

    def test_bad_argument(self):
        with pytest.raises(ValueError, match="dictionary or 'default'"):
            E.ParameterStatistics(Link(), statistics="all")
        with pytest.raises(TypeError, match="links must be a link or an iterable of links, got 3"):
            E.ParameterStatistics(3)
        with pytest.raises(TypeError, match="links must hold links, got 'W'"):
            E.ParameterStatistics(["W"])
