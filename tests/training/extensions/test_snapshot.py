from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import extensions as E
from chainer.training.extensions import snapshot_writers
from chainer.training.extensions.snapshot_files import find_snapshots
from tests.training.small_training import make_trainer, weights_of


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
        with pytest.raises(TypeError, match="need a file name that is a string"):
            E.snapshot(filename=lambda t: "x", autoload=True)
        with pytest.raises(TypeError, match="savefun and writer"):
            E.snapshot(lambda path, t: None, writer=snapshot_writers.SimpleWriter())

    def test_find_snapshots(self, tmp_path):
        for index, name in enumerate(["s_2.npz", "s_10.npz", "s_.npz", ".s_3.npz.tmp", "t_1.npz"]):
            (tmp_path / name).write_text("")
            os.utime(tmp_path / name, (index, 100 - index))
        found = find_snapshots("s_{.updater.iteration}.npz", str(tmp_path))
        assert found == ["s_10.npz", "s_2.npz"]
        assert find_snapshots("s", str(tmp_path / "missing")) == []


def save_badly(path, obj):
    raise ValueError("cannot save")


class TestWriters:
    @pytest.mark.parametrize("name", ["SimpleWriter", "ThreadWriter", "ProcessWriter"])
    def test_writes_the_state_of_the_time(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)(save_npz, compression=False)
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

    @pytest.mark.parametrize("name", ["ThreadWriter", "ProcessWriter"])
    def test_errors_are_raised(self, name, tmp_path):
        writer = getattr(snapshot_writers, name)(save_badly)
        with pytest.raises(
            RuntimeError, match="writing a snapshot failed: ValueError: cannot save"
        ):
            run(tmp_path, E.snapshot(writer=writer), stop=(1, "iteration"))
        assert names(tmp_path) == []


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
        rest, _ = process.communicate(timeout=30)
        told = [int(line) for line in rest.split()]
        reached = max([first, *told])
        for name in find_snapshots("snapshot_iter_{}", str(out)):
            with np.load(out / name) as file:
                assert int(file["updater/iteration"]) == int(name.rpartition("_")[2])
    process = start(out, reached + 2)
    process.communicate(timeout=60)
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
