"""Logs and plots whose cost does not grow with the length of the run."""

from __future__ import annotations

import copy
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from chainer.core.utils.atomic_file import remove_leftovers
from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer, load_npz, save_npz
from chainer.training import extensions as E
from chainer.training.extensions.logs.curve import Curve
from chainer.training.extensions.logs.growing_json import GrowingJsonFile
from chainer.training.trainer import Trainer
from tests.training.small_training import FakeUpdater, make_trainer

ENTRIES = [
    {"main/loss": 1 / 3, "epoch": 1, "text": 'quoted "line"\nnext'},
    {"epoch": 2, "nested": {"a": [1, 2], "b": {}}, "none": None},
    {},
    {"umlaut": "ä", "nan": float("nan"), "long": "x" * 10000},
]


def _be_killed_at(number):
    """Makes the process kill itself at a call that changes files, or in the middle of it.

    Args:
        number: How many calls are complete before.
    """
    left = number
    write = os.write

    def killing(function):
        def call(*args):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*args)

        return call

    def divided(descriptor, data):
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
        first = 4096 - position % 4096
        count = write(descriptor, data[:first])
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return count + (write(descriptor, data[first:]) if len(data) > first else 0)

    os.write = killing(divided)
    for name in ("link", "replace", "unlink", "open", "chmod"):
        setattr(os, name, killing(getattr(os, name)))


class TestGrowingJsonFile:
    def test_contents(self, tmp_path):
        path, file, entries = tmp_path / "log", GrowingJsonFile(), []
        for entry in ENTRIES:
            entries.append(entry)
            file.write(str(path), entries)
            # Only white space differs until the file is closed. (As texts: NaN equals nothing.)
            assert json.dumps(json.loads(path.read_text())) == json.dumps(entries)
        file.close()
        assert path.read_text() == json.dumps(entries, indent=4)
        entries.append({"after": "close"})
        file.write(str(path), entries)
        file.close()
        file.close()
        assert path.read_text() == json.dumps(entries, indent=4)

    def test_nothing_to_close(self, tmp_path):
        GrowingJsonFile().close()
        file = GrowingJsonFile()
        file.write(str(tmp_path / "log"), ENTRIES)
        (tmp_path / "log").unlink()
        file.close()
        assert not (tmp_path / "log").exists()

    def test_only_what_is_new_is_written(self, tmp_path, monkeypatch):
        path, file, entries, written = tmp_path / "log", GrowingJsonFile(), [], []
        extensions = 0
        write = os.write
        monkeypatch.setattr(
            os, "write", lambda fd, data: written.append(len(data)) or write(fd, data)
        )
        for index in range(1000):
            entries.append({"iteration": 1000 + index})
            written.clear()
            file.write(str(path), entries)
            if index > 1:
                extensions += sum(written) > 120
        assert extensions <= 1  # more space at the end
        assert json.loads(path.read_text()) == entries

    def test_a_divided_write_is_never_seen(self, tmp_path, monkeypatch):
        """A killed process may have written only the part before the end of a page."""
        path, file, entries, crossed = tmp_path / "log", GrowingJsonFile(), [], []
        write = os.write

        def writes(descriptor, data):
            position = os.lseek(descriptor, 0, os.SEEK_CUR)
            seen = path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())
            if seen and position // 4096 != (position + len(data) - 1) // 4096:
                crossed.append((position, len(data)))
            return write(descriptor, data)

        monkeypatch.setattr(os, "write", writes)
        sizes = random.Random(0)
        for index in range(300):
            entries.append({"index": index, "text": "x" * sizes.choice([5, 50, 1000, 4060, 5000])})
            file.write(str(path), entries)
            assert json.loads(path.read_text()) == entries
        assert not crossed
        file.close()
        assert path.read_text() == json.dumps(entries, indent=4)

    def test_entries_larger_than_a_page(self, tmp_path, monkeypatch):
        """They are written at a cost that does not grow with the file, whole or not at all."""
        path, file, entries, written = tmp_path / "log", GrowingJsonFile(), [{"n": 0}], []
        write = os.write

        def writes(descriptor, data):
            count = write(descriptor, data)
            written.append(count)
            read = json.loads(path.read_text())
            assert read in (entries, entries[:-1])
            return count

        file.write(str(path), entries)
        monkeypatch.setattr(os, "write", writes)
        large, total = {f"parameter {key}": key / 7 for key in range(400)}, 0
        for n in range(1, 100):
            entries.append({**large, "nested": {"n": [n], "e": {}}} if n % 3 else {})
            written.clear()
            file.write(str(path), entries)
            total += sum(written)
            assert json.loads(path.read_text()) == entries
        # Both copies, and spaces. Writing the whole file each time would take 30 times its size.
        assert total < 5 * path.stat().st_size
        assert len(os.listdir(tmp_path)) == 2
        file.close()
        assert os.listdir(tmp_path) == ["log"]
        assert path.read_text() == json.dumps(entries, indent=4)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes")
    def test_killed_at_any_call(self, tmp_path):
        """A write is divided at the end of a page; the process is killed at each system call."""
        large = {f"parameter {key}": key / 7 for key in range(300)}
        entries = [{"n": 0}, {"n": 1}, large, {"n": 3}, {**large, "n": 4}, {**large, "n": 5}]
        entries += [{"n": 6}, {**large, "text": "x" * 90_000}, {"n": 8}]
        killed, ended = 0, False
        while not ended:
            folder = tmp_path / str(killed)
            folder.mkdir()
            child = os.fork()
            if child == 0:
                _be_killed_at(killed)
                file = GrowingJsonFile()
                for count in range(1, len(entries) + 1):
                    file.write(str(folder / "log"), entries[:count])
                    (folder / "count").write_text(str(count))
                file.close()
                os._exit(0)
            _, status = os.waitpid(child, 0)
            ended = status == 0
            assert ended or os.WTERMSIG(status) == signal.SIGKILL
            done = int((folder / "count").read_text()) if (folder / "count").exists() else 0
            log = json.loads((folder / "log").read_text()) if (folder / "log").exists() else []
            assert log in (entries[:done], entries[: done + 1])
            assert len(remove_leftovers(folder)) <= 2
            assert not [name for name in os.listdir(folder) if name.startswith(".")]
            killed += 1
        assert killed > 40

    def test_without_hard_links(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
        path, file = tmp_path / "log", GrowingJsonFile()
        for count in range(1, 5):
            file.write(str(path), ENTRIES[-1:] * count)
            assert len(json.loads(path.read_text())) == count
            assert os.listdir(tmp_path) == ["log"]

    def test_copies_of_the_object(self, tmp_path):
        path, file = tmp_path / "log", GrowingJsonFile()
        for count in range(1, 5):
            file.write(str(path), ENTRIES[-1:] * count)
        other = copy.deepcopy(file)
        other.write(str(path), [{"other": 1}])
        other.close()
        file.write(str(path), ENTRIES[-1:] * 5)
        del file  # without `close`
        assert len(json.loads(path.read_text())) == 5
        assert os.listdir(tmp_path) == ["log"]

    def test_a_failed_write_is_made_up_for(self, tmp_path, monkeypatch):
        path, file, entries = tmp_path / "log", GrowingJsonFile(), [{"n": n} for n in range(2)]
        file.write(str(path), entries[:1])
        file.write(str(path), entries)
        entries += [{"n": n} for n in range(2, 6)]
        write, calls = os.write, []

        def fails(descriptor, data):
            calls.append(data)
            if len(calls) == 3:
                raise OSError(28, "no space left on device")
            return write(descriptor, data)

        with monkeypatch.context() as context:
            context.setattr(os, "write", fails)
            with pytest.raises(OSError, match="no space"):
                file.write(str(path), entries)
        assert json.loads(path.read_text()) == entries[:4]
        file.write(str(path), entries)
        assert json.loads(path.read_text()) == entries

    @pytest.mark.parametrize("change", ["remove", "replace", "append", "truncate"])
    def test_file_that_was_changed(self, tmp_path, change):
        path, file, entries = tmp_path / "log", GrowingJsonFile(), list(ENTRIES[:2])
        file.write(str(path), entries)
        if change == "remove":
            path.unlink()
        elif change == "replace":
            (tmp_path / "other").write_text(path.read_text())
            os.replace(tmp_path / "other", path)
        else:
            path.write_text("[]" if change == "truncate" else path.read_text() + "x")
        entries.append({"a": 1})
        file.write(str(path), entries)
        file.close()
        assert path.read_text() == json.dumps(entries, indent=4)

    def test_several_new_entries_and_another_path(self, tmp_path):
        file = GrowingJsonFile()
        file.write(str(tmp_path / "a"), ENTRIES[:1])
        file.write(str(tmp_path / "a"), ENTRIES)
        file.close()
        file.write(str(tmp_path / "b"), ENTRIES)
        for name in "ab":
            assert (tmp_path / name).read_text() == json.dumps(ENTRIES, indent=4)
        file.write(str(tmp_path / "b"), ENTRIES[:1])  # a shorter list
        assert (tmp_path / "b").read_text() == json.dumps(ENTRIES[:1], indent=4)

    def test_links_and_modes(self, tmp_path):
        (tmp_path / "real").write_text("old")
        (tmp_path / "real").chmod(0o600)
        (tmp_path / "log").symlink_to("real")
        file = GrowingJsonFile()
        for count in (1, 2):
            file.write(str(tmp_path / "log"), ENTRIES[:count])
        assert (tmp_path / "log").is_symlink()
        assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600
        assert len(json.loads((tmp_path / "real").read_text())) == 2

    def test_readers_see_complete_lists(self, tmp_path):
        path, file, entries = tmp_path / "log", GrowingJsonFile(), []
        stop, lengths, failures = threading.Event(), [], []

        def read():
            while not stop.is_set():
                if path.exists():
                    try:
                        lengths.append(len(json.loads(path.read_text())))
                    except ValueError as error:
                        failures.append(error)
                    else:
                        failures.clear()

        reader = threading.Thread(target=read)
        reader.start()
        # On a busy machine the reader may get its turn late.
        while len(entries) < 1500 or (len(set(lengths)) <= 10 and len(entries) < 20000):
            entries.append({"iteration": len(entries), "main/loss": len(entries) / 7})
            file.write(str(path), entries)
        stop.set()
        reader.join()
        # One that is read while an entry is copied is read again.
        assert len(failures) <= 1
        assert lengths == sorted(lengths)
        assert len(set(lengths)) > 10


def log_trainer(out, stop, **kwargs):
    trainer = make_trainer(out, (stop, "iteration"))
    trainer.extend(E.LogReport(trigger=(1, "iteration"), **kwargs))
    return trainer


def test_resumed_log_replaces_later_entries(tmp_path):
    """The file of an interrupted training is ahead of its last snapshot."""
    first = log_trainer(tmp_path, 3)
    first.extend(lambda t: save_npz(tmp_path / "s", t), name="save", trigger=(2, "iteration"))
    first.run()
    assert len(json.loads((tmp_path / "log").read_text())) == 3
    second = log_trainer(tmp_path, 4)
    load_npz(tmp_path / "s", second, strict=False)
    second.run()
    log = json.loads((tmp_path / "log").read_text())
    assert [entry["iteration"] for entry in log] == [1, 2, 3, 4]
    assert log == second.get_extension("LogReport").log


def test_entry_before_training(tmp_path):
    """As 7.8.1: an entry of iteration 0, whatever the trigger says."""
    trainer = make_trainer(tmp_path, (2, "iteration"))
    trainer.extend(E.LogReport(trigger=(2, "iteration")), call_before_training=True)
    trainer.run()
    log = json.loads((tmp_path / "log").read_text())
    assert [list(entry) for entry in log] == [
        ["epoch", "iteration", "elapsed_time"],
        ["main/loss", "epoch", "iteration", "elapsed_time"],
    ]
    assert [entry["iteration"] for entry in log] == [0, 2]


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({}, "log"),
        ({"filename": "a"}, "a"),
        ({"log_name": "b"}, "b"),
        ({"filename": "a", "log_name": "log"}, "a"),
        ({"filename": None}, None),
        ({"log_name": None}, None),
    ],
)
def test_names_of_the_file(tmp_path, kwargs, expected):
    log_trainer(tmp_path, 1, **kwargs).run()
    names = [] if expected is None else [expected]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


PROGRAM = """
import sys
from chainer.training import extensions as E
from tests.training.small_training import make_trainer
trainer = make_trainer(sys.argv[1])
trainer.stop_trigger = lambda trainer: False
trainer.extend(E.LogReport(trigger=(1, "iteration")))
trainer.extend(lambda t: print(t.updater.iteration, flush=True), name="tell", priority=-200)
trainer.run()
"""


def test_killed_run_loses_nothing(tmp_path):
    moments = random.Random(0)
    for number in range(5):
        out = tmp_path / str(number)
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, out],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        process.stdout.readline()
        time.sleep(moments.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate(timeout=120)
        told = max([1, *map(int, rest.split())])
        iterations = [entry["iteration"] for entry in json.loads((out / "log").read_text())]
        assert iterations == list(range(1, len(iterations) + 1))
        assert told <= len(iterations) <= told + 1


class TestCurve:
    def test_few_points(self):
        points = [(float(x), float(x % 7)) for x in range(1000)]
        assert Curve(points).points() == points

    def test_many_points_keep_the_extremes(self):
        ys = np.random.RandomState(0).rand(20000)
        ys[[12345, 777]] = 5, -5
        points = list(enumerate(ys.tolist()))
        curve = Curve(points)
        drawn = curve.points()
        assert len(drawn) <= 2002
        assert set(drawn) <= set(points)
        assert {(12345, 5.0), (777, -5.0), points[0], points[-1]} <= set(drawn)
        assert [x for x, _ in drawn] == sorted(x for x, _ in drawn)
        grown = Curve()
        for point in points:
            grown.add(*point)
        assert grown.points() == drawn


def test_plot_of_a_resumed_training(tmp_path):
    pytest.importorskip("matplotlib")
    plots = []
    for _ in range(2):
        trainer = Trainer(FakeUpdater(), (3, "iteration"), out=tmp_path)
        plot = E.PlotReport(["x"], trigger=(1, "iteration"))
        trainer.extend(
            lambda t: t.observation.update(x=t.updater.iteration), priority=300, name="x"
        )
        trainer.extend(plot, call_before_training=True)
        plots.append(plot)
        if len(plots) == 1:
            trainer.run()
    saved = {}
    DictionarySerializer(saved).save(plots[0])
    NpzDeserializer(saved).load(plots[1])
    assert plots[1]._curves["x"].points() == [(1, 1.0), (2, 2.0), (3, 3.0)]
    assert (tmp_path / "plot.png").exists()
