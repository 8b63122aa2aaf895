from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from chainer.core import events
from chainer.core.reporting.reporter import report
from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import extensions as E
from chainer.training import optimizers, triggers
from chainer.training.extension import Extension, make_extension
from chainer.training.trainer import Trainer
from tests.training.small_training import FakeUpdater, make_trainer, weights_of


class Recorder(Extension):
    """Records which of its methods are called."""

    def __init__(self, calls, error_at=None):
        self.calls = calls
        self._error_at = error_at

    def initialize(self, trainer):
        self.calls.append("initialize")

    def __call__(self, trainer):
        self.calls.append(trainer.updater.iteration)
        if trainer.updater.iteration == self._error_at:
            raise ValueError("boom")

    def on_error(self, trainer, exc, tb):
        self.calls.append(("on_error", str(exc), tb is exc.__traceback__))

    def finalize(self):
        self.calls.append("finalize")


class TestLoop:
    def test_runs_until_the_stop_trigger(self, tmp_path):
        trainer = make_trainer(tmp_path / "new" / "out", (5, "iteration"))
        trainer.run()
        assert trainer.updater.iteration == 5
        assert (tmp_path / "new" / "out").is_dir()

    def test_stops_at_the_end_of_an_epoch(self, tmp_path):
        trainer = make_trainer(tmp_path, (2, "epoch"))
        trainer.run()
        assert (trainer.updater.iteration, trainer.updater.epoch) == (5, 2)

    def test_an_extension_stops_it_after_the_iteration(self, tmp_path):
        trainer = make_trainer(tmp_path, (10, "iteration"))
        called = []

        def stop(trainer):
            trainer.stop("enough")
            trainer.stop("another reason")

        trainer.extend(stop, trigger=(3, "iteration"))
        trainer.extend(lambda trainer: called.append(trainer.stop_reason), name="after")
        assert trainer.stop_reason is None
        trainer.run()
        assert trainer.updater.iteration == 3
        assert called == [None, None, "enough"]
        assert trainer.stop_reason == "enough"

    def test_stopped_before_the_first_iteration(self, tmp_path):
        trainer = make_trainer(tmp_path, (10, "iteration"))
        stopper = make_extension(initializer=lambda trainer: trainer.stop("no"))
        trainer.extend(stopper(lambda trainer: None), name="stopper")
        trainer.run()
        assert trainer.updater.iteration == 0

    def test_a_stopped_training_goes_on_from_its_snapshot(self, tmp_path):
        trainer = make_trainer(tmp_path, (10, "iteration"))
        trainer.extend(lambda trainer: trainer.stop("pause"), name="p", trigger=(4, "iteration"))
        trainer.run()
        save_npz(tmp_path / "snapshot", trainer)
        resumed = make_trainer(tmp_path, (10, "iteration"))
        load_npz(tmp_path / "snapshot", resumed, strict=False)
        resumed.run()
        assert resumed.updater.iteration == 10
        assert resumed.stop_reason is None

    def test_runs_once(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "iteration"))
        trainer.run()
        with pytest.raises(RuntimeError, match="cannot run training loop multiple times"):
            trainer.run()

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_runs_again_after_an_exception(self, tmp_path, error):
        # Calls as observed in 7.8.1.
        log = []

        def fail(trainer):
            if trainer.updater.iteration == 2 and log.count("initialize") == 1:
                raise error("boom")

        trainer = make_trainer(tmp_path, (4, "iteration"))
        trainer.extend(Recorder(log), call_before_training=True)
        trainer.extend(fail)
        with pytest.raises(error):
            trainer.run(show_loop_exception_msg=False)
        elapsed = trainer.elapsed_time
        time.sleep(0.01)
        assert trainer.elapsed_time == elapsed
        trainer.run()
        handled = [("on_error", "boom", True)] if error is ValueError else []
        assert log == ["initialize", 0, 1, 2, *handled, "finalize", "initialize", 3, 4, "finalize"]
        assert elapsed < trainer.elapsed_time < elapsed + 60
        expected = make_trainer(tmp_path, (4, "iteration"))
        expected.run()
        np.testing.assert_array_equal(weights_of(trainer), weights_of(expected))
        with pytest.raises(RuntimeError, match="multiple times"):
            trainer.run()

    def test_extensions_that_are_finished_are_not_initialized(self, tmp_path):
        recorders = [Recorder([]), Recorder([])]
        calls = []
        for index, recorder in enumerate(recorders):
            recorder.initialize = lambda trainer, index=index: calls.append(index)
        trainer = make_trainer(tmp_path, (2, "iteration"))
        once = triggers.OnceTrigger()
        once(trainer)
        trainer.extend(recorders[0], trigger=once)
        trainer.extend(recorders[1], trigger=triggers.OnceTrigger())
        trainer.run()
        assert calls == [1]

    def test_reports_have_the_name_of_the_optimizer(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "iteration"))
        trainer.run()
        assert list(trainer.observation) == ["main/loss"]

    def test_observation_is_fresh_in_each_iteration(self, tmp_path):
        trainer = make_trainer(tmp_path, (3, "iteration"))
        seen = []

        def observe(trainer):
            seen.append(set(trainer.observation))
            report({f"value{trainer.updater.iteration}": 1})

        trainer.extend(observe, priority=400)
        trainer.run()
        assert seen == [{"main/loss"}] * 3
        assert set(trainer.observation) == {"main/loss", "value3"}

    def test_output_directory_cannot_be_made(self, tmp_path):
        (tmp_path / "file").write_text("")
        trainer = make_trainer(tmp_path / "file" / "out", (1, "iteration"))
        with pytest.raises(OSError, match="file"):
            trainer.run()

    def test_elapsed_time(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "iteration"))
        with pytest.raises(RuntimeError, match="training has not been started yet"):
            _ = trainer.elapsed_time
        trainer.run()
        elapsed = trainer.elapsed_time
        assert elapsed > 0
        time.sleep(0.01)
        assert trainer.elapsed_time == elapsed

    def test_plugins_are_told(self, tmp_path):
        told = []
        listener = lambda event, arguments: told.append((event, arguments["trainer"]))
        events.add_listener(listener)
        try:
            trainer = make_trainer(tmp_path, (1, "iteration"))
            trainer.run()
        finally:
            events.remove_listener(listener)
        assert told == [("chainer_trainer_start", trainer), ("chainer_trainer_end", trainer)]

    def test_runs_in_a_thread(self, tmp_path):
        trainer = make_trainer(tmp_path, (2, "iteration"))
        thread = threading.Thread(target=trainer.run)
        thread.start()
        thread.join()
        assert trainer.updater.iteration == 2


class TestExtend:
    def test_order_of_priorities(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "iteration"))
        calls = []
        for name, priority in (("r", 100), ("w", 300), ("r2", 100), ("low", -1), ("e", 200)):
            trainer.extend(lambda t, name=name: calls.append(name), name=name, priority=priority)
        trainer.run()
        assert calls == ["w", "e", "r", "r2", "low"]

    def test_trigger_of_the_call_wins(self, tmp_path):
        @make_extension(trigger=(2, "iteration"))
        def every_second(trainer):
            calls.append(trainer.updater.iteration)

        calls = []
        trainer = make_trainer(tmp_path, (4, "iteration"))
        trainer.extend(every_second)
        trainer.extend(every_second, trigger=(3, "iteration"))
        trainer.run()
        assert calls == [2, 3, 4]

    def test_trigger_that_is_a_method(self, tmp_path):
        class Odd(Extension):
            def trigger(self, trainer):
                return trainer.updater.iteration % 2 == 1

            def __call__(self, trainer):
                calls.append(trainer.updater.iteration)

        calls = []
        trainer = make_trainer(tmp_path, (5, "iteration"))
        trainer.extend(Odd())
        trainer.run()
        assert calls == [1, 3, 5]

    def test_names(self, tmp_path):
        trainer = make_trainer(tmp_path)
        recorders = [Recorder([]) for _ in range(3)]
        for recorder in recorders:
            trainer.extend(recorder)
        trainer.extend(lambda t: None, name="mine")
        trainer.extend(lambda t: None)
        assert trainer.get_extension("Recorder_1") is recorders[1]
        assert [recorder.name for recorder in recorders] == ["Recorder", "Recorder_1", "Recorder_2"]
        with pytest.raises(
            ValueError, match="extension Recorder_3 not found; registered.*mine, <lambda>"
        ):
            trainer.get_extension("Recorder_3")

    def test_names_are_attributes(self, tmp_path):
        # As in 7.8.1, also for functions; objects without the attribute can be extensions, too.
        def extension(trainer):
            pass

        class Slots:
            __slots__ = ()

            def __call__(self, trainer):
                pass

        trainer = make_trainer(tmp_path)
        trainer.extend(extension)
        assert extension.name == "extension"
        trainer.extend(extension, name="other")
        assert extension.name == "other"
        trainer.extend(extension)
        assert extension.name == "other_1"
        trainer.extend(Slots(), name="slots")
        trainer.extend([].append, name="method")
        names = ["extension", "other", "other_1", "slots", "method"]
        assert list(trainer._extensions) == names

    def test_constructor_takes_extensions(self, tmp_path):
        trainer = Trainer(FakeUpdater(), out=tmp_path, extensions=[Recorder([])])
        assert trainer.get_extension("Recorder")
        trainer = Trainer(FakeUpdater(), out=tmp_path, extensions={"name": Recorder([])})
        assert trainer.get_extension("name")

    def test_bad_extensions(self, tmp_path):
        trainer = make_trainer(tmp_path)
        with pytest.raises(TypeError, match="extension must be callable, got int"):
            trainer.extend(3)
        with pytest.raises(ValueError, match='"training" is prohibited'):
            trainer.extend(lambda t: None, name="training")
        with pytest.raises(TypeError, match="'foo'"):
            trainer.extend(lambda t: None, foo=1)

        class Nameless:
            def __call__(self, trainer):
                pass

        with pytest.raises(TypeError, match="name is not given"):
            trainer.extend(Nameless())

    def test_invoke_before_training_is_explained(self, tmp_path):
        trainer = make_trainer(tmp_path, (2, "iteration"))
        calls = []
        with pytest.warns(DeprecationWarning, match="has been removed since Chainer v2"):
            trainer.extend(
                lambda t: calls.append(t.updater.iteration), name="e", invoke_before_training=True
            )
        trainer.run()
        assert calls == [0, 1, 2]
        with pytest.raises(ValueError, match="Use initializer= instead"):
            make_extension(invoke_before_training=True)

    def test_call_before_training(self, tmp_path):
        trainer = make_trainer(tmp_path, (1, "iteration"))
        calls = []
        trainer.extend(
            lambda t: calls.append(t.is_before_training), name="e", call_before_training=True
        )
        trainer.run()
        assert calls == [True, False]

    def test_call_before_training_is_not_repeated(self, tmp_path):
        first = make_trainer(tmp_path, (1, "iteration"))
        first.run()
        save_npz(tmp_path / "s", first)
        second = make_trainer(tmp_path, (2, "iteration"))
        load_npz(tmp_path / "s", second)
        calls = []
        second.extend(
            lambda t: calls.append(t.updater.iteration), name="e", call_before_training=True
        )
        second.run()
        assert calls == [2]

    def test_make_extension(self, tmp_path):
        calls = []

        @make_extension(
            trigger=(2, "iteration"),
            default_name="other",
            priority=7,
            initializer=lambda trainer: calls.append("initialize"),
            finalizer=lambda: calls.append("finalize"),
        )
        def function(trainer):
            calls.append(trainer.updater.iteration)

        trainer = make_trainer(tmp_path, (3, "iteration"))
        trainer.extend(function)
        assert trainer.get_extension("other") is function
        trainer.run()
        assert calls == ["initialize", 2, "finalize"]
        assert function.priority == 7
        with pytest.raises(TypeError, match="'foo'"):
            make_extension(foo=1)

    def test_defaults_of_extension(self):
        extension = Extension()
        assert (extension.trigger, extension.priority) == ((1, "iteration"), 100)
        assert (extension.default_name, extension.name) == ("Extension", None)
        with pytest.raises(NotImplementedError, match="__call__"):
            extension(None)


class TestErrors:
    def test_order_of_calls(self, tmp_path, capsys):
        trainer = make_trainer(tmp_path)
        calls = []
        trainer.extend(Recorder(calls, error_at=2))
        with pytest.raises(ValueError, match="boom"):
            trainer.run()
        assert calls == ["initialize", 1, 2, ("on_error", "boom", True), "finalize"]
        err = capsys.readouterr().err
        assert err.startswith("Exception in main training loop: boom\nWill finalize")
        assert err.endswith(
            "Will finalize trainer extensions and updater before reraising the exception.\n"
        )

    def test_without_message(self, tmp_path, capsys):
        trainer = make_trainer(tmp_path)
        trainer.extend(Recorder([], error_at=1))
        with pytest.raises(ValueError, match="boom"):
            trainer.run(show_loop_exception_msg=False)
        assert capsys.readouterr().err == ""

    def test_everything_is_finalized_when_one_fails(self, tmp_path, capsys):
        class Fails(Recorder):
            def finalize(self):
                raise OSError("cannot finalize")

            def on_error(self, trainer, exc, tb):
                raise OSError("cannot handle")

        calls = []
        trainer = make_trainer(tmp_path)
        trainer.extend(Fails([], error_at=1))
        trainer.extend(Fails([]), name="second")
        trainer.extend(Recorder(calls))
        with pytest.raises(OSError, match="cannot finalize") as info:
            trainer.run(show_loop_exception_msg=False)
        assert isinstance(info.value.__context__, ValueError)
        assert calls == ["initialize", ("on_error", "boom", True), "finalize"]
        assert (
            "Exception in on_error of 'Fails': OSError('cannot handle')" in capsys.readouterr().err
        )

    def test_keyboard_interrupt(self, tmp_path, capsys):
        def interrupt(trainer):
            raise KeyboardInterrupt

        calls = []
        trainer = make_trainer(tmp_path)
        trainer.extend(Recorder(calls))
        trainer.extend(interrupt)
        with pytest.raises(KeyboardInterrupt):
            trainer.run()
        assert calls == ["initialize", 1, "finalize"]
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["TERM", "INT"]
    )
    def test_signals_end_a_process_cleanly(self, tmp_path, number, code):
        program = textwrap.dedent("""
            import sys, time
            from tests.training.small_training import make_trainer
            from chainer.training.extension import Extension

            class Waits(Extension):
                def __call__(self, trainer):
                    print("ready", flush=True)
                    time.sleep(600)
                def finalize(self):
                    print("finalized", flush=True)

            trainer = make_trainer(sys.argv[1], None)
            trainer.extend(Waits())
            try:
                trainer.run()
            except KeyboardInterrupt:
                sys.exit(130)
        """)
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
        assert out == "finalized\n"
        assert process.returncode == code

    def test_handler_of_the_program_is_left_alone(self, tmp_path):
        seen = []
        previous = signal.signal(signal.SIGTERM, lambda *_: seen.append("handled"))
        try:
            trainer = make_trainer(tmp_path, (2, "iteration"))
            trainer.extend(lambda t: os.kill(os.getpid(), signal.SIGTERM), name="kill")
            trainer.run()
        finally:
            signal.signal(signal.SIGTERM, previous)
        assert seen == ["handled"] * 2

    def test_handler_is_removed_afterwards(self, tmp_path):
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        make_trainer(tmp_path, (1, "iteration")).run()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def with_many_extensions(out, stop):
    trainer = make_trainer(out, stop, optimizer=optimizers.Adam(0.1), shuffle=True)
    model = trainer.updater.get_optimizer("main").target
    trainer.extend(E.LogReport(trigger=(3, "iteration")))
    trainer.extend(E.observe_lr(), trigger=(1, "iteration"))
    trainer.extend(E.ExponentialShift("alpha", 0.9), trigger=(2, "iteration"))
    trainer.extend(E.LinearShift("beta1", (0.9, 0.5), (2, 9)))
    trainer.extend(E.ParameterStatistics(model, trigger=(4, "iteration")))
    trainer.extend(lambda t: None, name="best", trigger=triggers.MinValueTrigger("main/loss"))
    return trainer


class TestSerialization:
    @pytest.mark.parametrize("at", [1, 4, 5, 7])
    def test_a_resumed_training_ends_like_an_uninterrupted_one(self, tmp_path, at):
        np.random.seed(1)
        whole = with_many_extensions(tmp_path, (4, "epoch"))
        whole.extend(
            E.snapshot(filename="snapshot"), trigger=triggers.ManualScheduleTrigger(at, "iteration")
        )
        whole.run()

        np.random.seed(2)
        resumed = with_many_extensions(tmp_path, (4, "epoch"))
        load_npz(tmp_path / "snapshot", resumed, strict=False)
        assert resumed.updater.iteration == at
        resumed.run()
        np.testing.assert_array_equal(weights_of(whole), weights_of(resumed))
        logs = [t.get_extension("LogReport").log for t in (whole, resumed)]
        for one, other in zip(*logs, strict=True):
            assert {**one, "elapsed_time": 0} == {**other, "elapsed_time": 0}
        assert resumed.get_extension("LogReport").log[-1]["iteration"] == 9
        best = [t._extensions["best"].trigger.best_value for t in (whole, resumed)]
        assert best[0] == best[1]

    def test_elapsed_time_goes_on(self, tmp_path):
        first = make_trainer(tmp_path, (1, "iteration"))
        first.extend(lambda t: time.sleep(0.05), name="sleep")
        first.extend(E.snapshot(filename="snapshot"), trigger=(1, "iteration"))
        first.run()
        second = make_trainer(tmp_path, (2, "iteration"))
        load_npz(tmp_path / "snapshot", second, strict=False)
        second.run()
        assert second.elapsed_time > 0.05

    def test_settings_may_change(self, tmp_path):
        first = make_trainer(tmp_path, (1, "epoch"))
        first.run()
        save_npz(tmp_path / "snapshot", first)
        second = make_trainer(tmp_path, (3, "epoch"))
        load_npz(tmp_path / "snapshot", second)
        second.run()
        assert second.updater.epoch == 3

    def test_damaged_snapshot_changes_nothing(self, tmp_path):
        trainer = make_trainer(tmp_path, (5, "iteration"))
        trainer.extend(E.snapshot(filename="snapshot"), trigger=(5, "iteration"))
        trainer.run()
        data = (tmp_path / "snapshot").read_bytes()
        (tmp_path / "cut").write_bytes(data[: len(data) // 2])
        fresh = make_trainer(tmp_path, (5, "iteration"))
        before = weights_of(fresh).copy()
        with pytest.raises(ValueError, match="cut"):
            load_npz(tmp_path / "cut", fresh)
        np.testing.assert_array_equal(weights_of(fresh), before)
        assert fresh.updater.iteration == 0
