from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import chainer
from chainer import training
from chainer.training.extensions import CSVLogger, JSONLinesLogger
from tests.training.observed_training import assert_same_rows, make_trainer, observing


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        {key: _number(cell) for key, cell in row.items() if cell and key != "elapsed_time"}
        for row in rows
    ]


def read_jsonl(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [{k: v for k, v in row.items() if k != "elapsed_time"} for row in rows]


def _number(cell):
    try:
        return json.loads(cell)
    except ValueError:
        return cell


KINDS = pytest.mark.parametrize(
    ("kind", "name", "read"),
    [(CSVLogger, "log.csv", read_csv), (JSONLinesLogger, "log.jsonl", read_jsonl)],
)


@KINDS
def test_rows(tmp_path, kind, name, read):
    logger = kind(trigger=(2, "iteration"))
    observing(tmp_path, [1, 2, np.float32(4), np.array(5.5), 9], logger).run()
    assert read(tmp_path / name) == [
        {"epoch": 0, "iteration": 2, "metric": 1.5},
        {"epoch": 0, "iteration": 4, "metric": 4.75},
    ]


@KINDS
def test_rows_can_be_read_as_soon_as_they_are_written(tmp_path, kind, name, read):
    seen = []
    trainer = observing(tmp_path, [1, 2, 3], kind(trigger=(1, "iteration")))
    trainer.extend(lambda trainer: seen.append(len(read(tmp_path / name))), name="reader")
    trainer.run()
    assert seen == [1, 2, 3]


@KINDS
def test_columns_are_the_union(tmp_path, kind, name, read):
    trainer = observing(tmp_path, [1, 2, 3, 4], kind(trigger=(1, "iteration")))
    late = training.make_extension(trigger=(3, "iteration"), priority=300)
    trainer.extend(late(lambda trainer: chainer.report({"late, or not": 7.0})), name="late")
    trainer.run()
    rows = read(tmp_path / name)
    assert [row.get("late, or not") for row in rows] == [None, None, 7, None]
    assert [row["metric"] for row in rows] == [1, 2, 3, 4]


@KINDS
def test_keys(tmp_path, kind, name, read):
    observing(tmp_path, [1], kind(name, ["other"], (1, "iteration"))).run()
    assert read(tmp_path / name) == [{"epoch": 0, "iteration": 1}]


@KINDS
def test_a_new_training_begins_a_new_log(tmp_path, kind, name, read):
    (tmp_path / name).write_text("something else\nthat is overwritten")
    observing(tmp_path, [3], kind(trigger=(1, "iteration"))).run()
    assert [row["metric"] for row in read(tmp_path / name)] == [3]


@KINDS
def test_the_reason_of_a_stop_comes_with_the_rest_of_the_interval(tmp_path, kind, name, read):
    trainer = observing(tmp_path, [1, 2, 3, 5, 7, 9], kind(trigger=(3, "iteration")))
    stop = training.make_extension(trigger=(5, "iteration"), priority=200)
    reason = 'more than "enough",\nreally'
    trainer.extend(stop(lambda trainer: trainer.stop(reason)), name="stop")
    trainer.run()
    first, last = read(tmp_path / name)
    assert first == {"epoch": 0, "iteration": 3, "metric": 2}
    assert last == {"epoch": 0, "iteration": 5, "metric": 6, "stop_reason": reason}


@KINDS
def test_resumed(tmp_path, kind, name, read):
    def make(out, stop):
        trainer = make_trainer(tmp_path / out, stop)
        trainer.extend(kind(trigger=(2, "iteration")))
        return trainer

    make("whole", (3, "epoch")).run()
    first = make("resumed", (7, "iteration"))
    snapshot = tmp_path / "snapshot"
    first.extend(
        lambda trainer: chainer.serializers.save_npz(snapshot, trainer),
        name="save",
        trigger=(3, "iteration"),  # at 3 and 6; in the middle of an interval
        priority=-100,
    )
    first.run()
    log = tmp_path / "resumed" / name
    assert [row["iteration"] for row in read(log)] == [2, 4, 6]
    with log.open("a") as file:
        file.write('{"epoch": 9, "iter')  # cut off
    for iteration in (3, 6):
        first = make("resumed", (iteration, "iteration"))
        first.run()
        chainer.serializers.save_npz(snapshot, first)
        if iteration == 3:  # the log is ahead of the snapshot
            log.write_text((tmp_path / "whole" / name).read_text())
        with log.open("a") as file:
            file.write('7,"cut' if kind is CSVLogger else '{"iteration": 8')
        second = make("resumed", (3, "epoch"))
        chainer.serializers.load_npz(snapshot, second)
        second.run()
        assert_same_rows(read(log), read(tmp_path / "whole" / name))


@KINDS
def test_resumed_elsewhere(tmp_path, kind, name, read):
    trainer = observing(tmp_path / "a", [1, 2], kind(trigger=(1, "iteration")))
    trainer.run()
    chainer.serializers.save_npz(tmp_path / "snapshot", trainer)
    trainer = observing(tmp_path / "b", [1, 2, 3], kind(trigger=(1, "iteration")))
    chainer.serializers.load_npz(tmp_path / "snapshot", trainer)
    trainer.run()
    assert [row["iteration"] for row in read(tmp_path / "b" / name)] == [3]


@KINDS
@pytest.mark.parametrize("content", ["a,b\n1,2\n", "{}\n", "[1]\n\n"])
def test_files_of_others_are_not_resumed(tmp_path, kind, name, read, content):
    trainer = observing(tmp_path, [1], kind(trigger=(1, "iteration")))
    trainer.run()
    chainer.serializers.save_npz(tmp_path / "snapshot", trainer)
    if kind is CSVLogger:
        content = "a,b\n" + content
    (tmp_path / name).write_text(content)
    trainer = observing(tmp_path, [1, 2], kind(trigger=(1, "iteration")))
    chainer.serializers.load_npz(tmp_path / "snapshot", trainer)
    with pytest.raises(ValueError, match=f"{name}.*not a row of this log"):
        trainer.run(show_loop_exception_msg=False)
    assert (tmp_path / name).read_text() == content


def test_numbers_that_json_does_not_have(tmp_path):
    observing(tmp_path, [np.nan, np.inf, 1], JSONLinesLogger(trigger=(1, "iteration"))).run()
    assert [row["metric"] for row in read_jsonl(tmp_path / "log.jsonl")] == [None, None, 1]


def test_csv_keeps_all_digits(tmp_path):
    value = 0.1 + 0.2
    observing(tmp_path, [value, np.inf], CSVLogger(trigger=(1, "iteration"))).run()
    with (tmp_path / "log.csv").open() as file:
        cells = [row["metric"] for row in csv.DictReader(file)]
    assert cells == [repr(value), "inf"]
