from __future__ import annotations

import os
import queue
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from pickle import PicklingError

import numpy as np
import pytest

import chainer
from chainer.links.serializers.npz import DictionarySerializer, load_npz, save_npz
from chainer.training import extensions as E
from chainer.training.extensions import _snapshot, snapshot_writers
from chainer.training.extensions.snapshot_files import find_snapshots
from tests.training.small_training import Regression, make_trainer, weights_of


def names(directory):
    return sorted(os.listdir(directory))


def run(out, *extensions, stop=(4, "iteration"), trigger=(1, "iteration")):
    trainer = make_trainer(out, stop)
    for extension in extensions:
        trainer.extend(extension, trigger=trigger)
    trainer.run()
    return trainer


class TestSnapshot:
    def test_names_and_contents(self, tmp_path):
        trainer = run(tmp_path, E.snapshot(), trigger=None, stop=(2, "epoch"))
        assert names(tmp_path) == ["snapshot_iter_3", "snapshot_iter_5"]
        other = make_trainer(tmp_path)
        load_npz(tmp_path / "snapshot_iter_5", other, strict=False)
        np.testing.assert_array_equal(weights_of(other), weights_of(trainer))
        assert trainer.get_extension("snapshot").priority == -100

    def test_object(self, tmp_path):
        trainer = make_trainer(tmp_path, (2, "iteration"))
        model = trainer.updater.get_optimizer("main").target
        trainer.extend(
            E.snapshot_object(model, "model_{.updater.iteration}"), trigger=(2, "iteration")
        )
        trainer.run()
        with np.load(tmp_path / "model_2") as file:
            np.testing.assert_array_equal(file["W"], model.W.array)
        assert trainer.get_extension("snapshot_object")

    def test_function_that_saves(self, tmp_path):
        def savefun(path, trainer):
            Path(path).write_text(f"iteration {trainer.updater.iteration}")

        run(tmp_path, E.snapshot(savefun, "state"), trigger=(3, "iteration"))
        assert (tmp_path / "state").read_text() == "iteration 3"

    def test_name_by_a_function(self, tmp_path):
        run(tmp_path, E.snapshot(filename=lambda t: f"at_{t.updater.epoch_detail}"))
        assert "at_0.4" in names(tmp_path)

    def test_failing_save_leaves_the_old_file(self, tmp_path):
        def savefun(path, trainer):
            Path(path).write_text(f"iteration {trainer.updater.iteration}")
            if trainer.updater.iteration == 2:
                raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            run(tmp_path, E.snapshot(savefun, "state"))
        assert names(tmp_path) == ["state"]
        assert (tmp_path / "state").read_text() == "iteration 1"

    def test_condition(self, tmp_path):
        answers = iter([True, False, True, False])
        run(tmp_path, E.snapshot(condition=lambda: next(answers)))
        assert names(tmp_path) == ["snapshot_iter_1", "snapshot_iter_3"]

    def test_n_retains(self, tmp_path):
        tmp_path.joinpath("snapshot_iter_note.txt").write_text("")
        tmp_path.joinpath("other").write_text("")
        run(tmp_path, E.snapshot(n_retains=2))
        left = set(names(tmp_path))
        assert {"snapshot_iter_3", "snapshot_iter_4", "other"} <= left
        assert not {"snapshot_iter_1", "snapshot_iter_2"} & left

    def test_autoload(self, tmp_path):
        whole = run(tmp_path / "whole", stop=(6, "iteration"))
        run(tmp_path / "out", E.snapshot(), stop=(4, "iteration"))
        resumed = run(tmp_path / "out", E.snapshot(autoload=True), stop=(6, "iteration"))
        np.testing.assert_array_equal(weights_of(resumed), weights_of(whole))
        assert len(names(tmp_path / "out")) == 6

    def test_autoload_removes_what_a_killed_process_did_not(self, tmp_path):
        """It was killed between its last snapshot and the removal of the one that is too old."""
        run(tmp_path, E.snapshot(), stop=(4, "iteration"))
        run(tmp_path, E.snapshot(autoload=True, n_retains=2), stop=(4, "iteration"))
        assert names(tmp_path) == ["snapshot_iter_3", "snapshot_iter_4"]

    def test_autoload_before_other_extensions_are_initialized(self, tmp_path):
        def training(stop):
            trainer = make_trainer(tmp_path, (stop, "iteration"))
            trainer.extend(E.ExponentialShift("lr", 0.5), trigger=(1, "iteration"))
            trainer.extend(E.snapshot(autoload=True), trigger=(1, "iteration"))
            trainer.run()
            return trainer.updater.get_optimizer("main").lr

        assert training(2) == 0.01 / 4
        assert training(3) == 0.01 / 8

    def test_autoload_skips_damaged_files(self, tmp_path):
        run(tmp_path, E.snapshot())
        path = tmp_path / "snapshot_iter_4"
        path.write_bytes(path.read_bytes()[:-100])
        with pytest.warns(UserWarning, match="snapshot_iter_4 is skipped"):
            trainer = run(tmp_path, E.snapshot(autoload=True), stop=(3, "iteration"))
        assert trainer.updater.iteration == 3

    def test_snapshot_on_error(self, tmp_path):
        def fail(trainer):
            raise ValueError("boom")

        trainer = make_trainer(tmp_path)
        trainer.extend(fail, trigger=(2, "iteration"))
        trainer.extend(E.snapshot(snapshot_on_error=True))
        with pytest.raises(ValueError, match="boom"):
            trainer.run(show_loop_exception_msg=False)
        assert names(tmp_path) == ["snapshot_iter_2"]

    def test_mistakes(self):
        with pytest.raises(TypeError, match="'n_retain'"):
            E.snapshot(n_retain=3)
        with pytest.raises(TypeError, match="needs a file name that is a string"):
            E.snapshot(filename=lambda t: "x", autoload=True)
        with pytest.raises(TypeError, match="savefun and writer"):
            E.snapshot(lambda path, t: None, writer=snapshot_writers.SimpleWriter())

    def test_find_snapshots(self, tmp_path):
        # As observed in 7.8.1: by prefix and suffix, sorted by time and then by name.
        names = ["s_10.npz", "s_9.npz", "s_.npz", ".s_3.npz.tmp", "t_1.npz", "s_1", "s_11.npz"]
        for name in names:
            (tmp_path / name).write_text("")
            os.utime(tmp_path / name, (0, 50 if name == "s_11.npz" else 100))
        (tmp_path / "s_directory.npz").mkdir()
        out = str(tmp_path)
        expected = [(50.0, "s_11.npz"), (100.0, "s_.npz"), (100.0, "s_10.npz"), (100.0, "s_9.npz")]
        assert _snapshot._find_snapshot_files("s_{.updater.iteration}.npz", out) == expected
        assert find_snapshots("s_{}_{}.npz", out) == expected
        assert _snapshot._find_latest_snapshot("s_{}.npz", out) == "s_9.npz"
        assert _snapshot._find_latest_snapshot("u_{}", out) is None
        assert list(_snapshot._find_stale_snapshots("s_{}.npz", out, 3)) == ["s_11.npz"]
        assert list(_snapshot._find_stale_snapshots("s_{}.npz", out, 5)) == []
        assert find_snapshots("s_1", out) == [(100.0, "s_1")]
        assert find_snapshots("s", str(tmp_path / "missing")) == []

    def test_attributes(self):
        snapshot = E.snapshot()
        assert snapshot.filename == "snapshot_iter_{.updater.iteration}"
        assert snapshot.condition() is True
        assert isinstance(snapshot.writer, snapshot_writers.SimpleWriter)
        assert (snapshot.n_retains, snapshot.autoload) == (-1, False)
        condition, writer = (lambda: False), snapshot_writers.ThreadWriter()
        snapshot = E.snapshot_object(
            Regression(), "x", n_retains=2, autoload=True, condition=condition, writer=writer
        )
        assert snapshot.condition is condition
        assert snapshot.writer is writer
        assert (snapshot.filename, snapshot.n_retains, snapshot.autoload) == ("x", 2, True)

    def test_num_retain(self):
        with pytest.warns(DeprecationWarning, match="use n_retains instead"):
            assert E.snapshot(num_retain=2, n_retains=3).n_retains == 2

    def test_old_files_of_a_function_are_kept(self, tmp_path):
        run(tmp_path, E.snapshot(filename=lambda t: f"s{t.updater.iteration}", n_retains=1))
        assert names(tmp_path) == ["s1", "s2", "s3", "s4"]

    @pytest.mark.parametrize("has_target", [False, True])
    def test_what_savefun_gets(self, tmp_path, has_target):
        seen = []

        def save(path, state):
            path = Path(path)
            seen.append((path.name, isinstance(state, dict), path.parent != tmp_path))
            if has_target:
                assert set(state) == {"W"}
                assert state.W.array.shape == state["W"].shape == (3,)  # of the link
            else:
                assert state["updater/iteration"] == state.updater.iteration
                assert state.elapsed_time > 0  # of the trainer
            with pytest.raises(AttributeError):
                state.nothing
            copied = {}
            state.serialize(DictionarySerializer(copied))
            assert copied.keys() == state.keys()
            path.write_text("")

        if has_target:
            extension = E.snapshot_object(Regression(), "s_{.updater.iteration}.h5", save)
        else:
            extension = E.snapshot(save, "s_{.updater.iteration}.h5")
        run(tmp_path, extension, stop=(2, "iteration"))
        assert seen == [("s_1.h5", True, True), ("s_2.h5", True, True)]
        assert names(tmp_path) == ["s_1.h5", "s_2.h5"]

    def test_savefun_that_writes_elsewhere(self, tmp_path):
        def save(path, state):
            np.savez(path, **state)  # appends a suffix

        with pytest.raises(FileNotFoundError, match=r"no file 's'; there are: \['s.npz'\]"):
            run(tmp_path, E.snapshot(save, "s"))
        assert names(tmp_path) == []

    def test_link_as_the_file(self, tmp_path):
        (tmp_path / "real").write_text("old")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "s").symlink_to(tmp_path / "real")
        run(tmp_path / "out", E.snapshot(filename="s"), stop=(1, "iteration"))
        assert (tmp_path / "out" / "s").is_symlink()
        with np.load(tmp_path / "real") as file:
            assert file["updater/iteration"] == 1

    def test_custom_writer(self, tmp_path):
        # It need not have any method of the class Writer.
        written = []

        def writer(filename, outdir, target):
            written.append((filename, outdir, dict(target)["updater/iteration"].item()))
            Path(outdir, filename).write_text("")

        run(tmp_path, E.snapshot(writer=writer, n_retains=1), stop=(2, "iteration"))
        assert written == [(f"snapshot_iter_{i}", str(tmp_path), i) for i in (1, 2)]
        assert names(tmp_path) == ["snapshot_iter_2"]

    def test_autoload_tells_in_debug_mode(self, tmp_path, capsys):
        for text in (
            "No snapshot file that matches snapshot_iter_{.updater.iteration} was found",
            f"Snapshot loaded from {tmp_path}{os.sep}snapshot_iter_1",
        ):
            with chainer.using_config("debug", True):
                run(tmp_path, E.snapshot(autoload=True), stop=(1, "iteration"))
            assert capsys.readouterr().out == text + "\n"

    def test_autoload_does_not_go_back(self, tmp_path):
        """A training that was interrupted is not reset to the last snapshot."""
        trainer = make_trainer(tmp_path, (5, "iteration"))
        trainer.extend(E.snapshot(autoload=True), trigger=(2, "iteration"))
        iterations = []

        def interrupt(trainer):
            iterations.append(trainer.updater.iteration)
            if iterations == [1, 2, 3]:
                raise KeyboardInterrupt

        trainer.extend(interrupt)
        with pytest.raises(KeyboardInterrupt):
            trainer.run()
        trainer.run()
        assert iterations == [1, 2, 3, 4, 5]

    def test_name_of_release_7(self, tmp_path):
        trainer = make_trainer(tmp_path)
        extensions = [E.snapshot(), E.snapshot_object(Regression(), "x"), E.snapshot()]
        for extension in extensions:
            trainer.extend(extension)
        trainer.extend(E.snapshot(), name="named")
        found = [trainer.get_extension(f"_Snapshot{end}") for end in ("", "_1", "_2")]
        assert found == extensions
        with pytest.raises(ValueError, match="_Snapshot_3 not found; .* snapshot_object"):
            trainer.get_extension("_Snapshot_3")


def save_badly(path, obj):
    raise ValueError("cannot save")


def die(path, obj):
    os.kill(os.getpid(), signal.SIGKILL)


ALL_WRITERS = [
    "SimpleWriter",
    "ThreadWriter",
    "ProcessWriter",
    "ThreadQueueWriter",
    "ProcessQueueWriter",
]


class TestWriters:
    @pytest.mark.parametrize("name", ALL_WRITERS)
    def test_writes_the_state_of_the_time(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)(save_npz)
        trainer = run(tmp_path, E.snapshot(writer=writer))
        assert names(tmp_path) == [f"snapshot_iter_{i}" for i in (1, 2, 3, 4)]
        plain = run(tmp_path / "plain", E.snapshot())
        np.testing.assert_array_equal(weights_of(plain), weights_of(trainer))
        for i in (1, 4):
            states = []
            for directory in (tmp_path, tmp_path / "plain"):
                with np.load(directory / f"snapshot_iter_{i}") as file:
                    states.append({k: file[k] for k in file if "elapsed" not in k})
            assert states[0].keys() == states[1].keys()
            for key, value in states[0].items():
                np.testing.assert_array_equal(value, states[1][key])

    @pytest.mark.parametrize("name", ALL_WRITERS)
    def test_old_files_are_removed(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)()
        run(tmp_path, E.snapshot(writer=writer, n_retains=2))
        assert names(tmp_path) == ["snapshot_iter_3", "snapshot_iter_4"]

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_a_queue_takes_what_can_be_pickled(self, method, monkeypatch, tmp_path):
        monkeypatch.setattr(snapshot_writers, "default_start_method", lambda: method)
        task = lambda *arguments: None
        writer = snapshot_writers.ProcessQueueWriter()
        writer._task = task
        with pytest.raises((AttributeError, PicklingError), match="pickle") as caught:
            writer("name", str(tmp_path), {})
        assert "define it at the top of a module" in caught.value.__notes__[-1]
        writer.finalize()

    @pytest.mark.parametrize("name", ALL_WRITERS)
    def test_dictionaries_and_objects(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)()
        array = np.zeros(2)
        writer("dictionary", str(tmp_path), {"a/b": array, "c": np.array("text")})
        writer("object", str(tmp_path), Regression())
        if name != "SimpleWriter":
            array[...] = 1  # it was copied
        writer.finalize()
        writer.finalize()
        with np.load(tmp_path / "dictionary") as file:
            assert sorted(file) == ["a/b", "c"]
            np.testing.assert_array_equal(file["a/b"], np.zeros(2))
        with np.load(tmp_path / "object") as file:
            assert list(file) == ["W"]
        writer("again", str(tmp_path), {})  # by the next run of the trainer
        writer.finalize()
        assert "again" in names(tmp_path)

    @pytest.mark.parametrize("name", ALL_WRITERS[1:])
    def test_errors_are_raised(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)(save_badly)
        with pytest.raises(
            RuntimeError, match="writing a snapshot failed: ValueError: cannot save"
        ):
            run(tmp_path, E.snapshot(writer=writer), stop=(1, "iteration"))
        assert names(tmp_path) == []

    @pytest.mark.parametrize("name", ["ProcessWriter", "ProcessQueueWriter"])
    def test_process_that_dies(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)(die)
        writer("x", str(tmp_path), {})
        with pytest.raises(RuntimeError, match="ended with exit code -9"):
            writer.finalize()

    @pytest.mark.parametrize("name", ["SimpleWriter", "ThreadWriter", "ProcessWriter"])
    def test_further_arguments(self, name, tmp_path):
        zeros = {"x": np.zeros(10000)}
        for compression in (False, True):
            writer = getattr(snapshot_writers, name)(save_npz, compression=compression)
            writer(str(compression), str(tmp_path), zeros)
            writer.finalize()
        assert (tmp_path / "True").stat().st_size < (tmp_path / "False").stat().st_size / 10

    def test_task(self, tmp_path):
        done = []
        writer = snapshot_writers.ThreadQueueWriter(
            task=lambda filename, outdir, target: done.append((filename, outdir, target))
        )
        for filename in "abc":
            writer(filename, "out", {"x": np.array(1)})
        writer.finalize()
        assert [(name, out, dict(target)) for name, out, target in done] == [
            (name, "out", {"x": 1}) for name in "abc"
        ]

    def test_failure_does_not_stop_a_queue(self, tmp_path):
        written = []

        def task(filename, outdir, target):
            if filename == "a":
                raise OSError("disk is full")
            written.append(filename)

        writer = snapshot_writers.ThreadQueueWriter(task=task)
        for filename in "abc":
            writer(filename, str(tmp_path), {})
        with pytest.raises(RuntimeError, match="OSError: disk is full"):
            writer.finalize()
        assert written == ["b", "c"]

    def test_own_writers(self, tmp_path):
        """The methods that subclasses define."""
        log = []

        class Worker:
            def __init__(self, function):
                self.function = function

            def start(self):
                log.append("start")

            def join(self):
                self.function()
                log.append("join")

        class Standard(snapshot_writers.StandardWriter):
            def create_worker(self, filename, outdir, target, **kwds):
                return Worker(lambda: self.save(filename, outdir, target, self._savefun, **kwds))

        class Queue(snapshot_writers.QueueWriter):
            def create_queue(self):
                return queue.Queue()

            def create_consumer(self, q):
                return Worker(lambda: self.consume(q))

        for writer in (Standard(), Queue()):
            log.clear()
            writer._add_cleanup_hook(lambda: log.append("hook"))
            writer("x", str(tmp_path), {"a": np.array(1)})
            writer.finalize()
            assert [each for each in log if each != "start"] == ["hook", "join"]
            assert names(tmp_path) == ["x"]
            (tmp_path / "x").unlink()

    @pytest.mark.parametrize(
        ("name", "method", "arguments"),
        [
            ("Writer", "__call__", ("x", "y", {})),
            ("StandardWriter", "create_worker", ("x", "y", {})),
            ("QueueWriter", "create_queue", ()),
            ("QueueWriter", "create_consumer", (None,)),
        ],
    )
    def test_interface(self, name, method, arguments):
        cls = getattr(snapshot_writers, name)
        writer = cls.__new__(cls)
        with pytest.raises(NotImplementedError, match=f"{name} must define {method}"):
            getattr(writer, method)(*arguments)

    def test_queue_is_written_at_the_end_of_the_program(self, tmp_path):
        program = (
            "import sys; from chainer.training.extensions import snapshot_writers as W\n"
            "for name in ('ThreadQueueWriter', 'ProcessQueueWriter'):\n"
            "    globals()[name] = getattr(W, name)()\n"
            "    globals()[name](name, sys.argv[1], {})\n"
        )
        subprocess.run([sys.executable, "-c", program, tmp_path], check=True, timeout=240)
        assert names(tmp_path) == ["ProcessQueueWriter", "ThreadQueueWriter"]


PROGRAM = """
import sys
from chainer.training import extensions as E
from tests.training.small_training import make_trainer
trainer = make_trainer(sys.argv[1], (int(sys.argv[2]), "iteration"), size=20000)
trainer.extend(E.snapshot(n_retains=3, autoload=True), trigger=(1, "iteration"))
trainer.extend(lambda t: print(t.updater.iteration, flush=True), name="tell", priority=-200)
trainer.run()
"""


def start(out, stop):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(out), str(stop)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def kill_and_resume(out, times, seed):
    """Kills a training that does little but write snapshots at random moments, and resumes it."""
    moments = random.Random(seed)
    reached = 0
    for _ in range(times):
        process = start(out, 10**6)
        first = int(process.stdout.readline())
        assert first >= reached  # at most the snapshot that was being written is lost
        time.sleep(moments.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate(timeout=120)
        told = [int(line) for line in rest.split()]
        reached = max([first, *told])
        for _, name in find_snapshots("snapshot_iter_{}", str(out)):
            with np.load(out / name) as file:
                assert int(file["updater/iteration"]) == int(name.rpartition("_")[2])
    process = start(out, reached + 2)
    process.communicate(timeout=240)
    assert process.returncode == 0
    trainer = make_trainer(out, size=20000)
    load_npz(out / f"snapshot_iter_{reached + 2}", trainer, strict=False)
    whole = make_trainer(out / "whole", (reached + 2, "iteration"), size=20000)
    whole.run()
    np.testing.assert_array_equal(weights_of(trainer), weights_of(whole))


def test_kill(tmp_path):
    kill_and_resume(tmp_path, 3, seed=0)


@pytest.mark.slow
def test_kill_50_times(tmp_path):
    kill_and_resume(tmp_path, 50, seed=1)


def test_writer_must_be_callable():
    with pytest.raises(TypeError, match=r"writer must be a snapshot writer or .* got 'result'"):
        E.snapshot(writer="result")
