from __future__ import annotations

import json
import os

import numpy as np
import pytest

import chainer
from chainer.training import extensions
from chainer.training.extensions import BestSnapshots, SnapshotEntry, list_best
from tests.training.observed_training import assert_same_weights, make_trainer, observing


def files(path):
    return sorted(name for name in os.listdir(path) if not name.endswith(".json"))


def best(**options):
    options = {"key": "metric", "k": 2, "trigger": (1, "iteration"), "last": None} | options
    return BestSnapshots(**options)


def test_the_best_and_the_last_are_kept(tmp_path):
    keeper = best(last="last")
    observing(tmp_path, [3, 1, 2, 5, 1, 4], keeper).run()
    assert files(tmp_path) == ["best_iter_2", "best_iter_5", "last"]
    assert (
        keeper.entries
        == list_best(tmp_path)
        == [
            SnapshotEntry("best_iter_2", 1.0, 2, 0),
            SnapshotEntry("best_iter_5", 1.0, 5, 0),
        ]
    )
    for name, iteration in (("best_iter_2", 2), ("best_iter_5", 5), ("last", 6)):
        with np.load(tmp_path / name) as archive:
            assert archive["updater/iteration"] == iteration


@pytest.mark.parametrize(
    ("key", "mode", "kept"), [("accuracy", "auto", 3), ("x", "max", 3), ("accuracy", "min", 1)]
)
def test_direction(tmp_path, key, mode, kept):
    observing(tmp_path, [1, 2, 3, 2], best(key=key, k=1, mode=mode), key=key).run()
    assert files(tmp_path) == [f"best_iter_{kept}"]


def test_means_of_intervals_are_compared(tmp_path):
    keeper = best(trigger=(2, "iteration"), k=1)
    observing(tmp_path, [1, 9, 4, 4, 5, 5, 0], keeper).run()
    assert [(entry.iteration, entry.value) for entry in keeper.entries] == [(4, 4.0)]


def test_values_that_are_no_numbers_are_never_the_best(tmp_path):
    observing(tmp_path, [np.nan, 7, -np.inf, np.nan], best()).run()
    assert files(tmp_path) == ["best_iter_2"]


def test_target_and_names(tmp_path):
    model = chainer.Link(w=(2,))
    keeper = best(target=model, filename="e{epoch}_{value:.2f}_{iteration:03}.npz", k=1)
    observing(tmp_path, [1.5] * 11 + [1], keeper).run()
    assert files(tmp_path) == ["e1_1.00_012.npz"]
    chainer.serializers.load_npz(tmp_path / "e1_1.00_012.npz", chainer.Link(w=(2,)))


def test_files_of_others_are_never_removed(tmp_path):
    others = ["best_iter_99", "best_iter_x", "snapshot_iter_1"]
    for name in others:
        (tmp_path / name).write_text("mine")
    observing(tmp_path, [3, 2, 1], best(k=1)).run()
    assert files(tmp_path) == sorted([*others, "best_iter_3"])
    assert all((tmp_path / name).read_text() == "mine" for name in others)


def test_a_new_training_leaves_the_snapshots_of_the_last_one_alone(tmp_path):
    observing(tmp_path, [9, 9, 1], best(k=1)).run()
    observing(tmp_path, [5, 4], best(k=1)).run()
    assert files(tmp_path) == ["best_iter_2", "best_iter_3"]
    assert [entry.file for entry in list_best(tmp_path)] == ["best_iter_2"]


def test_nothing_is_lost_when_writing_fails(tmp_path):
    def save(path, obj):
        if trainer.updater.iteration == 2:
            with open(path, "w") as file:
                file.write("half")
            raise OSError("disk is full")
        chainer.serializers.save_npz(path, obj)

    keeper = best(k=1, savefun=save)
    trainer = observing(tmp_path, [2, 1], keeper)
    with pytest.raises(OSError, match="disk is full"):
        trainer.run(show_loop_exception_msg=False)
    assert files(tmp_path) == ["best_iter_1"]
    assert [entry.iteration for entry in keeper.entries] == [1]


def test_removals_that_were_interrupted_are_made_up_for(tmp_path, monkeypatch):
    trainer = observing(tmp_path, [2, 1], best(k=1, last="last"))
    trainer.extend(extensions.snapshot(), trigger=(1, "iteration"), name="all", priority=-100)

    def die(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "remove", die)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    monkeypatch.undo()
    assert files(tmp_path) == ["best_iter_1", "best_iter_2", "last", "snapshot_iter_1"]
    resumed = observing(tmp_path, [2, 1, 5], best(k=1, autoload=True, last="last"))
    resumed.run()
    assert files(tmp_path) == ["best_iter_2", "last", "snapshot_iter_1"]


VALUES = [5, 4, 6, 3, 7, 2, 8, 3, 1, 9]


@pytest.mark.parametrize("crash", [3, 6, 9])
@pytest.mark.parametrize("start", [1, 2, 3, 5])
def test_resumed_run_equals_an_uninterrupted_one(tmp_path, start, crash):
    observing(tmp_path / "whole", VALUES, best(last="last")).run()
    every = extensions.snapshot()
    first = observing(tmp_path / "resumed", VALUES, best(last="last"), stop=max(crash, start))
    first.extend(every, trigger=(1, "iteration"))
    first.run()
    second = observing(tmp_path / "resumed", VALUES, best(last="last"))
    chainer.serializers.load_npz(
        tmp_path / "resumed" / f"snapshot_iter_{start}", second, strict=False
    )
    second.run()
    for path in (tmp_path / "resumed").glob("snapshot_iter_*"):
        path.unlink()
    assert list_best(tmp_path / "resumed") == list_best(tmp_path / "whole")
    assert files(tmp_path / "resumed") == files(tmp_path / "whole")


def test_resumed_by_itself(tmp_path):
    def make(out, stop):
        trainer = make_trainer(tmp_path / out, stop)
        keeper = BestSnapshots("validation/main/loss", k=2, autoload=True)
        trainer.extend(keeper)
        return trainer, keeper

    whole, expected = make("whole", (4, "epoch"))
    whole.run()
    for stop in (7, 13):
        make("resumed", (stop, "iteration"))[0].run()
    resumed, keeper = make("resumed", (4, "epoch"))
    resumed.run()
    assert resumed.updater.iteration == 20
    assert_same_weights(resumed, whole)
    assert [entry.file for entry in keeper.entries] == [entry.file for entry in expected.entries]


def test_resumed_with_another_metric(tmp_path):
    trainer = observing(tmp_path, [2, 1], best(k=1))
    trainer.run()
    chainer.serializers.save_npz(tmp_path / "s", trainer)
    resumed = observing(tmp_path, [2, 1, 5], best(k=1, mode="max"))
    chainer.serializers.load_npz(tmp_path / "s", resumed)
    with pytest.warns(UserWarning, match="of another metric, 'metric'"):
        resumed.run()
    assert files(tmp_path) == ["best_iter_2", "best_iter_3", "s"]


@pytest.mark.parametrize("name", ["../precious", "/etc/passwd", "", ".."])
def test_a_table_cannot_point_elsewhere(tmp_path, name):
    out = tmp_path / "out"
    trainer = observing(out, [2], best())
    trainer.run()
    chainer.serializers.save_npz(tmp_path / "s", trainer)
    (tmp_path / "precious").write_text("mine")
    table = json.loads((out / "best_snapshots.json").read_text())
    for changed in (
        {"removing": [name]},
        {"snapshots": [{"file": name, "value": 9, "iteration": 1, "epoch": 0}]},
    ):
        (out / "best_snapshots.json").write_text(json.dumps(table | changed))
        resumed = observing(out, [2, 1, 0], best(k=1))
        chainer.serializers.load_npz(tmp_path / "s", resumed)
        with pytest.raises(ValueError, match="plain file names"):
            resumed.run(show_loop_exception_msg=False)
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("text", ["", "[]", '{"snapshots": [{}], "removing": []}'])
def test_damaged_tables(tmp_path, text):
    (tmp_path / "best_snapshots.json").write_text(text)
    with pytest.raises(ValueError, match=r"best_snapshots\.json is not a table"):
        list_best(tmp_path)


def test_key_that_is_never_observed(tmp_path):
    trainer = observing(tmp_path, [1, 2], best(key="other"))
    with pytest.warns(UserWarning, match="'other' was not observed"):
        trainer.run()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"k": 0}, "k must be 1 or more, got 0"),
        ({"filename": "best"}, "filename must contain '{iteration}', got 'best'"),
        ({"filename": "a/{iteration}"}, "filename: .* plain file names"),
        ({"last": "../last"}, "last: .* plain file names"),
        ({"last": None, "autoload": True}, "autoload needs"),
    ],
)
def test_bad_arguments(options, text):
    with pytest.raises(ValueError, match=text):
        BestSnapshots(**options)
