"""The output directory of a trainer: relative paths, and several trainers in one folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from chainer.core.utils import output_locks
from chainer.core.utils.output_locks import FolderInUseError, OutputLocks
from chainer.training import extensions
from tests.training.small_training import make_trainer

#: Trains in the folder that the argument names, says so, and waits for a line.
WAITING = """
import sys
from chainer.training import extensions
from tests.training.small_training import make_trainer
trainer = make_trainer(sys.argv[1], (2, "iteration"))
trainer.extend(extensions.LogReport(trigger=(1, "iteration"), log_name=sys.argv[2]))
def wait(trainer):
    print("trains", flush=True)
    sys.stdin.readline()
trainer.extend(wait, trigger=(1, "iteration"))
trainer.run()
"""


@pytest.fixture(autouse=True)
def no_job(monkeypatch):
    for name in (*output_locks._RANKS, *output_locks._SIZES):
        monkeypatch.delenv(name, raising=False)


def logging_trainer(out, name="log"):
    trainer = make_trainer(out, (2, "iteration"))
    trainer.extend(extensions.LogReport(trigger=(1, "iteration"), log_name=name))
    return trainer


@pytest.fixture
def other(tmp_path):
    """Starts trainings in other processes, and ends them."""
    started = []

    def start(name="log"):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WAITING), str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "trains\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_relative_path_is_resolved_at_the_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trainer = logging_trainer("result")
    assert trainer.out == "result"
    (tmp_path / "elsewhere").mkdir()
    trainer.extend(lambda _: os.chdir(tmp_path / "elsewhere"), name="move")
    trainer.extend(extensions.snapshot(), trigger=(2, "iteration"))
    trainer.run()
    assert trainer.out == str(tmp_path / "result")
    assert sorted(os.listdir(tmp_path / "result")) == ["log", "snapshot_iter_2"]
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
class TestTwoTrainers:
    def test_another_process(self, tmp_path, other):
        process = other()
        text = rf"process {process.pid} on \S+ is writing 'log' in the folder '.*' now. Give this"
        with pytest.raises(FolderInUseError, match=text):
            logging_trainer(tmp_path).run()
        logging_trainer(tmp_path, "another log").run()
        logging_trainer(tmp_path / "folder").run()
        make_trainer(tmp_path, (2, "iteration")).run()  # it writes nothing
        process.communicate("\n\n", timeout=60)
        logging_trainer(tmp_path).run()
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]

    def test_another_process_was_killed(self, tmp_path, other):
        process = other()
        process.send_signal(signal.SIGKILL)
        process.wait()
        logging_trainer(tmp_path).run()
        assert os.listdir(tmp_path) == ["log"]

    def test_snapshots(self, tmp_path, other):
        other("log")
        trainer = make_trainer(tmp_path, (2, "iteration"))
        trainer.extend(extensions.snapshot())
        locks = OutputLocks(str(tmp_path), ["snapshot_iter_{.updater.iteration}"])
        assert [n for n in os.listdir(tmp_path) if n.startswith(".snapshot")]
        trainer.run()  # the lock is the one of this process
        locks.release()
        assert trainer.get_extension("snapshot").written_name in (
            "snapshot_iter_{.updater.iteration}",
        )

    @pytest.mark.parametrize(
        "variable", ["PMI_RANK=0", "OMPI_COMM_WORLD_RANK=1", "WORLD_SIZE=2", "SLURM_NTASKS=4"]
    )
    def test_processes_of_one_job(self, tmp_path, other, monkeypatch, variable):
        other()
        monkeypatch.setenv(*variable.split("="))
        logging_trainer(tmp_path).run()

    def test_one_after_another_and_nested(self, tmp_path):
        for _ in range(2):
            logging_trainer(tmp_path).run()
        outer = logging_trainer(tmp_path)
        outer.extend(lambda _: logging_trainer(tmp_path).run(), name="evaluation")
        outer.run()
        assert len(json.loads((tmp_path / "log").read_text())) == 2

    def test_a_run_that_failed_gives_the_folder_back(self, tmp_path, capsys):
        trainer = logging_trainer(tmp_path)

        def fail(_):
            raise ValueError("no")

        trainer.extend(fail, name="fail")
        with pytest.raises(ValueError, match="no"):
            trainer.run()
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]

    def test_forked_processes_do_not_keep_it(self, tmp_path):
        locks = OutputLocks(str(tmp_path), ["log"])
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            locks.release()  # changes nothing
            os.close(write)
            os.read(read, 1)
            os._exit(0)
        try:
            assert Path(tmp_path, ".log.lock").exists()
            locks.release()
            OutputLocks(str(tmp_path), ["log"]).release()
        finally:
            os.close(write)
            os.waitpid(child, 0)
            os.close(read)

    @pytest.mark.parametrize("kind", ["symlink", "hard link", "pipe", "folder", "dangling"])
    def test_something_else_in_the_place_of_the_lock(self, tmp_path, kind):
        """Files of others are not changed, and pipes are not waited for."""
        other, path = tmp_path / "other", tmp_path / ".log.lock"
        other.write_text("precious")
        {
            "symlink": lambda: path.symlink_to(other),
            "hard link": lambda: path.hardlink_to(other),
            "pipe": lambda: os.mkfifo(path),
            "folder": path.mkdir,
            "dangling": lambda: path.symlink_to(tmp_path / "new"),
        }[kind]()
        locks = OutputLocks(str(tmp_path), ["log"])
        locks.release()
        assert other.read_text() == "precious"
        assert os.path.lexists(path) and not (tmp_path / "new").exists()

    def test_another_host(self, tmp_path, other, monkeypatch):
        """Of a lock that a dead process left nothing is seen; a dead host may keep its lock."""
        path = tmp_path / ".log.lock"
        path.write_text("process 12345 on elsewhere")
        logging_trainer(tmp_path).run()
        assert not path.exists()
        other()
        monkeypatch.setattr(output_locks.socket, "gethostname", lambda: "here")
        with pytest.raises(FolderInUseError, match=rf"ended; if \S+ is down, remove '{path}'$"):
            logging_trainer(tmp_path).run()

    def test_folder_that_cannot_be_written(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(output_locks.os, "open", refuse)
        OutputLocks(str(tmp_path), ["log"]).release()
