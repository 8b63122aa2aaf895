"""Snapshots of trainings whose logs are longer than what a snapshot contains."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer, load_npz, save_npz
from chainer.training import extensions as E
from chainer.training.extensions import LogReport
from chainer.training.extensions.logs import encoded_list
from chainer.training.extensions.logs.curve import Curve
from chainer.training.extensions.logs.encoded_list import (
    ENTRIES_IN_SNAPSHOT,
    EarlierEntries,
    EncodedList,
)
from chainer.training.extensions.logs.log_files import kept_files
from tests.earlier_releases import run, skip_without
from tests.training.small_training import make_trainer

#: In place of 10,000 entries.
LIMIT = 10


@pytest.fixture(autouse=True)
def few_entries(monkeypatch):
    monkeypatch.setattr(E.LogReport, "entries_in_snapshot", LIMIT)
    monkeypatch.setattr(E.PlotReport, "entries_in_snapshot", LIMIT)


def log_trainer(out, stop, snapshots=(), **kwargs):
    trainer = make_trainer(out, (stop, "iteration"))
    trainer.extend(LogReport(trigger=(1, "iteration"), **kwargs))

    def save(trainer):
        if trainer.updater.iteration in snapshots:
            save_npz(Path(out, f"snapshot_{trainer.updater.iteration}"), trainer)

    trainer.extend(save, name="save", trigger=(1, "iteration"), priority=-100)
    return trainer


def resumed(out, snapshot, stop=50):
    trainer = log_trainer(out, stop, (40,))
    load_npz(snapshot, trainer)
    return trainer


def log_of(trainer):
    return [entry["iteration"] for entry in trainer.get_extension("LogReport").log]


def log_in(path):
    return [entry["iteration"] for entry in json.loads(Path(path).read_text())]


def up_to(number, start=1):
    return list(range(start, number + 1))


def entries_of(path):
    with np.load(path) as archive:
        prefix = "extensions/LogReport/"
        return {
            key.removeprefix(prefix): archive[key][()]
            for key in archive.files
            if key.startswith(prefix + "_log")
        }


class TestEncodedList:
    ENTRIES = [{"a": 1 / 3, "n": float("nan")}, {}, {"t": "ä\n"}, {"l": [1, {"x": None}]}] * 3

    @pytest.mark.parametrize("limit", [None, 0, 1, 5, 12, 13])
    def test_text_and_earlier_entries(self, limit):
        encoded = EncodedList()
        for count in (0, 2, 7, 12):
            text = encoded.text(self.ENTRIES[:count], limit)
            earlier = 0 if limit is None else max(0, count - limit)
            assert text == json.dumps(self.ENTRIES[earlier:count])
            assert encoded.earlier.count == earlier
            read = json.loads(json.dumps(self.ENTRIES, indent=4))
            assert encoded.earlier.begin(read)
            assert EarlierEntries.of_text(encoded.earlier.to_text()) == encoded.earlier

    def test_entries_that_were_removed_and_limits_that_change(self):
        encoded = EncodedList()
        for count, limit in ((12, 3), (12, 5), (12, None), (4, None), (12, 2), (6, 2)):
            text = encoded.text(self.ENTRIES[:count], limit)
            assert text == json.dumps(self.ENTRIES[encoded.earlier.count : count])
            assert encoded.earlier.begin(self.ENTRIES)

    def test_other_entries(self):
        encoded = EncodedList()
        encoded.text(self.ENTRIES, 3)
        assert not encoded.earlier.begin(self.ENTRIES[:8])
        assert not encoded.earlier.begin(self.ENTRIES[1:])
        assert not encoded.earlier.begin([*self.ENTRIES[:8], {"l": [1, {"x": 0}]}])

    def test_only_new_entries_are_encoded(self, monkeypatch):
        encoded, entries, calls = EncodedList(), [], []
        dumps = json.dumps
        monkeypatch.setattr(
            encoded_list.json, "dumps", lambda value: calls.append(value) or dumps(value)
        )
        for number in range(100):
            entries.append({"number": number})
            encoded.text(entries, LIMIT)
        assert calls == entries

    @pytest.mark.parametrize(
        "text",
        ["", "[]", '{"count": 1}', '{"count": -1, "characters": 2, "crc32": 3}', '{"count": "1"}'],
    )
    def test_broken_texts(self, text):
        with pytest.raises(ValueError, match="earlier entries of the log"):
            EarlierEntries.of_text(text)


def test_a_snapshot_of_a_short_log_contains_it(tmp_path):
    log_trainer(tmp_path, 30, (LIMIT,)).run()
    entries = entries_of(tmp_path / f"snapshot_{LIMIT}")
    assert list(entries) == ["_log"]
    assert [entry["iteration"] for entry in json.loads(str(entries["_log"]))] == up_to(LIMIT)


def test_a_snapshot_of_a_long_log_contains_the_newest_entries(tmp_path):
    log_trainer(tmp_path, 30, (30,)).run()
    entries = entries_of(tmp_path / "snapshot_30")
    assert [entry["iteration"] for entry in json.loads(str(entries["_log"]))] == up_to(30, 21)
    assert json.loads(str(entries["_log_earlier"]))["count"] == 20


def test_default_limit(monkeypatch):
    monkeypatch.undo()
    assert LogReport().entries_in_snapshot == ENTRIES_IN_SNAPSHOT == 10_000
    assert E.PlotReport(["x"]).entries_in_snapshot == 10_000


@pytest.mark.parametrize("last", [30, 33, 39])
def test_resumption(tmp_path, last):
    """The log file has entries of the time after the snapshot, as when a training is killed."""
    first = log_trainer(tmp_path, last, (30,))
    first.run()
    second = resumed(tmp_path, tmp_path / "snapshot_30")
    # Without running.
    assert log_of(second) == up_to(30)
    assert second.get_extension("LogReport").log == first.get_extension("LogReport").log[:30]
    second.run()
    assert log_of(second) == log_in(tmp_path / "log") == up_to(50)
    assert not kept_files(str(tmp_path / "log"))
    # What the second training saves is complete as well.
    third = resumed(tmp_path, tmp_path / "snapshot_40")
    assert third.get_extension("LogReport").log == second.get_extension("LogReport").log[:40]


def test_resumption_by_autoload_and_of_an_internal_log_report(tmp_path):
    def trained(stop):
        trainer = make_trainer(tmp_path, (stop, "iteration"))
        trainer.extend(E.snapshot(autoload=True, n_retains=1), trigger=(5, "iteration"))
        report = LogReport(trigger=(1, "iteration"))
        with open(os.devnull, "w") as out:
            trainer.extend(E.PrintReport(["iteration"], report, out=out), trigger=(1, "iteration"))
            trainer.run()
        return [entry["iteration"] for entry in report.log]

    assert trained(22) == up_to(22)
    assert trained(41) == log_in(tmp_path / "log") == up_to(41)


def test_a_log_report_that_is_saved_before_it_reads_the_log(tmp_path):
    log_trainer(tmp_path, 30, (30,)).run()
    saved = dict(np.load(tmp_path / "snapshot_30"))
    report, copied = LogReport(trigger=(1, "iteration")), {}
    report.serialize(NpzDeserializer(saved, "extensions/LogReport/"))
    report.serialize(DictionarySerializer(copied, "extensions/LogReport/"))
    for key, value in copied.items():
        assert value == saved[key], key


MISSING = r"entries 1 to 20 of the log are missing.* the 10 after them.*"


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        (None, "does not exist"),
        ("", "cannot be read as a log: Expecting value"),
        ("{}", "cannot be read as a log: not a JSON list"),
        ("[{}]", "has 1 only"),
        (json.dumps([{"iteration": i} for i in range(40)]), "has other entries"),
    ],
)
def test_missing_and_foreign_files(tmp_path, contents, found):
    log_trainer(tmp_path, 30, (30,)).run()
    whole = (tmp_path / "log").read_bytes()
    (tmp_path / "log").unlink()
    if contents is not None:
        (tmp_path / "log").write_text(contents)
    with pytest.warns(UserWarning, match=MISSING + "log' " + found) as caught:
        second = resumed(tmp_path, tmp_path / "snapshot_30", 35)
    assert len(caught) == 1
    assert log_of(second) == up_to(30, 21)
    # Nothing is changed before the first entry.
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log", "snapshot_30"][contents is None :]
    second.run()
    assert log_in(tmp_path / "log") == up_to(35, 21)
    kept = kept_files(str(tmp_path / "log"))
    assert [Path(path).read_text() for path in kept] == ([] if contents is None else [contents])
    # As the warning says.
    (tmp_path / "log").write_bytes(whole)
    assert log_of(resumed(tmp_path, tmp_path / "snapshot_30")) == up_to(30)


def test_a_pipe_in_place_of_the_log_is_not_read(tmp_path):
    log_trainer(tmp_path, 30, (30,)).run()
    (tmp_path / "log").unlink()
    os.mkfifo(tmp_path / "log")
    with pytest.warns(UserWarning, match=MISSING + "does not exist"):
        resumed(tmp_path, tmp_path / "snapshot_30")


def test_a_log_report_without_a_file_of_a_fixed_name(tmp_path):
    log_trainer(tmp_path, 30, (30,)).run()
    for name in (None, "log_{iteration}"):
        trainer = log_trainer(tmp_path, 31, log_name=name)
        with pytest.warns(UserWarning, match=MISSING + "no log file of a fixed name"):
            load_npz(tmp_path / "snapshot_30", trainer)
        trainer.run()
        assert log_of(trainer) == up_to(31, 21)


def test_a_much_older_snapshot_keeps_what_later_ones_need(tmp_path):
    log_trainer(tmp_path, 45, (12, 30, 45)).run()
    whole = (tmp_path / "log").read_bytes()
    second = resumed(tmp_path, tmp_path / "snapshot_12", 20)
    second.run()
    assert log_in(tmp_path / "log") == up_to(20)
    kept = kept_files(str(tmp_path / "log"))
    assert [Path(path).read_bytes() for path in kept] == [whole]
    for number in (30, 45):
        assert log_of(resumed(tmp_path, tmp_path / f"snapshot_{number}")) == up_to(number)


def test_a_training_from_the_beginning_keeps_what_snapshots_need(tmp_path):
    for _ in range(3):
        log_trainer(tmp_path, 30, (30,)).run()
    assert len(kept_files(str(tmp_path / "log"))) == 2
    assert log_in(tmp_path / "log.kept-1") == log_in(tmp_path / "log") == up_to(30)


def test_a_short_log_is_replaced_by_a_training_from_the_beginning(tmp_path):
    for _ in range(2):
        log_trainer(tmp_path, LIMIT).run()
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize("change", ["removed", "replaced", "no name", "format", "no limit"])
def test_whole_logs_in_snapshots(tmp_path, change):
    """Where the log file cannot be relied on, and where the program asks for it."""
    names = {"no name": None, "format": "log_{iteration}"}
    trainer = log_trainer(tmp_path, 31, (30, 31), log_name=names.get(change, "log"))
    report = trainer.get_extension("LogReport")
    if change == "no limit":
        report.entries_in_snapshot = None

    def interfere(trainer):
        if trainer.updater.iteration in (30, 31) and change == "removed":
            (tmp_path / "log").unlink()
        if trainer.updater.iteration in (30, 31) and change == "replaced":
            (tmp_path / "log").write_text("[]")

    trainer.extend(interfere, trigger=(1, "iteration"), name="interfere", priority=-10)
    trainer.run()
    for number in (30, 31):
        entries = entries_of(tmp_path / f"snapshot_{number}")
        assert list(entries) == ["_log"]
        assert json.loads(str(entries["_log"])) == report.log[:number]


def test_broken_entry(tmp_path):
    log_trainer(tmp_path, 30, (30,)).run()
    saved = dict(np.load(tmp_path / "snapshot_30"))
    saved["extensions/LogReport/_log_earlier"] = np.array("[]")
    with pytest.raises(ValueError, match="earlier entries of the log"):
        NpzDeserializer(saved).load(log_trainer(tmp_path, 40))


PROGRAM = """
import os, sys
from chainer.training import extensions as E
from tests.earlier_releases import run, skip_without
from tests.training.small_training import make_trainer
E.LogReport.entries_in_snapshot = 10
trainer = make_trainer(sys.argv[1], (400, "iteration"))
trainer.extend(E.LogReport(trigger=(1, "iteration")))
trainer.extend(E.snapshot(autoload=True, n_retains=2), trigger=(5, "iteration"))
trainer.extend(lambda t: print(t.updater.iteration, flush=True), name="tell", priority=-200)
trainer.run()
"""


def test_killed_and_resumed(tmp_path):
    moments, kills = random.Random(0), 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROGRAM, tmp_path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        if kills < 5:
            process.stdout.readline()
            time.sleep(moments.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
            kills += 1
        _, errors = process.communicate(timeout=120)
        log = log_in(tmp_path / "log")
        assert log == up_to(len(log))
        assert not errors
        if process.returncode == 0:
            break
    assert len(log) == 400
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "log",
        "snapshot_iter_395",
        "snapshot_iter_400",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("release", [4, 7])
def test_exchange_with_earlier_releases(release, tmp_path):
    """With the limit of 10,000: a longer log, one that has just as many, and one of theirs."""
    program = Path(__file__).parent / "data" / "long_log.py"
    python = skip_without(release)

    def printed(python, *args):
        return [json.loads(line) for line in run(python, program, tmp_path, *args).splitlines()]

    limit = ENTRIES_IN_SNAPSHOT
    assert printed(sys.executable, str(limit)) == [[], up_to(limit)]
    snapshot = tmp_path / f"snapshot_{limit}"
    assert printed(python, str(limit + 1), snapshot) == [up_to(limit), up_to(limit + 1)]
    assert printed(sys.executable, str(limit + 50), snapshot) == [up_to(limit), up_to(limit + 50)]
    # Theirs, of which the snapshot contains the newest only; the log file has them all.
    snapshot = tmp_path / f"snapshot_{limit + 50}"
    whole = (tmp_path / "log").read_bytes()
    theirs = printed(python, str(limit + 51), snapshot)
    assert theirs == [up_to(limit + 50, 51), up_to(limit + 51, 51)]
    (tmp_path / "log").write_bytes(whole)
    assert printed(sys.executable, str(limit + 51), snapshot) == [
        up_to(limit + 50),
        up_to(limit + 51),
    ]
    # Written there: whole, however long.
    assert printed(python, "150")[-1] == up_to(150)
    trainer = log_trainer(tmp_path / "other", 151)
    serializer = NpzDeserializer(np.load(tmp_path / "snapshot_150"), "extensions/LogReport/")
    trainer.get_extension("LogReport").serialize(serializer)
    assert log_of(trainer) == up_to(150)


class TestPlotReport:
    def curve(self, count):
        ys = np.random.RandomState(0).rand(count).tolist()
        return [(float(x), y) for x, y in enumerate(ys)]

    def plot(self, points):
        plot = E.PlotReport(["a", "b"])
        for x, y in points:
            for key in ("a", "b"):
                plot._data[key].append([x, y])
                plot._curves[key].add(x, y)
        return plot

    def saved(self, plot):
        entries = {}
        DictionarySerializer(entries).save(plot)
        return {key: value for key, value in entries.items() if "plot" in key}

    def loaded(self, entries):
        plot = E.PlotReport(["a", "b"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the trigger, which is not in the entries
            NpzDeserializer(entries, strict=False).load(plot)
        return plot

    def test_short_curves(self):
        plot = self.plot(self.curve(LIMIT))
        entries = self.saved(plot)
        assert list(entries) == ["_plot_plot.png"]
        assert json.loads(str(entries["_plot_plot.png"])) == plot._data
        assert self.loaded(entries)._data == plot._data

    def test_long_curves(self):
        points = self.curve(6000)
        entries = self.saved(self.plot(points[:5000]))
        assert len(json.loads(str(entries["_plot_plot.png"]))["a"]) <= 2002
        plot = self.loaded(entries)
        for x, y in points[5000:]:
            plot._data["a"].append([x, y])
            plot._curves["a"].add(x, y)
        # Also after another time, and with what asks for all points.
        plot.entries_in_snapshot = None
        again = self.loaded(self.saved(plot))
        for resumed in (plot, again):
            assert resumed._curves["a"].points() == Curve(points).points()
            assert resumed._curves["b"].points() == Curve(points[:5000]).points()
            assert resumed._data["a"][-1000:] == [list(point) for point in points[5000:]]

    @pytest.mark.parametrize(
        "state", [{}, [], [1, 2, 3], [1, 1, 1, [[0]], []], [-1, 0, 0, [], []], [1, 1, 1, "a", 5]]
    )
    def test_broken_states(self, state):
        entries = self.saved(self.plot(self.curve(20)))
        entries["_plot_curves_plot.png"] = np.array(json.dumps({"a": state}))
        with pytest.raises(ValueError, match=r"curve"):
            self.loaded(entries)
