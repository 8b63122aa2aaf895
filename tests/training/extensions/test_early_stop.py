from __future__ import annotations

import json

import numpy as np
import pytest

import chainer
from chainer.training import extensions
from chainer.training.extensions import EarlyStop
from tests.training.observed_training import make_trainer, observing


def run(out, values, stop=None, **options):
    early = EarlyStop("metric", trigger=(1, "iteration"), finite=(), **options)
    trainer = observing(out, values, early, stop=stop)
    trainer.run()
    return trainer, early


def test_patience(tmp_path, capsys):
    trainer, early = run(tmp_path, [5, 3, 4, 3, 2, 2, 3, 2, 1, 0], patience=3)
    assert trainer.updater.iteration == 8
    assert (early.best, early.best_iteration, early.count) == (2, 5, 3)
    assert trainer.stop_reason == (
        "metric has not improved in the last 3 intervals: best 2 at iteration 5"
    )
    assert capsys.readouterr().err == f"early stop: {trainer.stop_reason}\n"


def test_min_delta(tmp_path):
    values = [5.0, 4.75, 4.5, 4.25, 0, 0]  # the third is better by exactly 0.5 than the best
    trainer, early = run(tmp_path, values, patience=3, min_delta=0.5, stop=4)
    assert (early.best, early.best_iteration, early.count) == (4.25, 4, 0)
    trainer, early = run(tmp_path, values, patience=2, min_delta=0.5)
    assert trainer.updater.iteration == 3
    assert "by more than 0.5 in the last 2 intervals" in trainer.stop_reason


@pytest.mark.parametrize(
    ("key", "mode", "iteration"),
    [("a/accuracy", "auto", 4), ("loss", "auto", 2), ("loss", "max", 4), ("accuracy", "min", 2)],
)
def test_direction(tmp_path, key, mode, iteration):
    early = EarlyStop(key, 1, mode=mode, trigger=(1, "iteration"), finite=())
    trainer = observing(tmp_path, [1, 2, 3, 2, 1], early, key=key)
    trainer.run()
    assert trainer.updater.iteration == iteration


@pytest.mark.parametrize("bad", [np.nan, np.inf, np.array(-np.inf, "f")])
def test_not_finite_stops_at_once(tmp_path, bad):
    early = EarlyStop("metric", trigger=(5, "iteration"))
    trainer = observing(tmp_path, [1, 1, bad, 1, 1], early)
    trainer.run()
    assert trainer.updater.iteration == 3
    assert trainer.stop_reason == f"metric is {float(bad)} at iteration 3"


def test_other_observations_must_be_finite_too(tmp_path):
    early = EarlyStop("metric", finite=("main/loss",), verbose=False)
    trainer = observing(tmp_path, [1, np.nan, 1], early, key="main/loss")
    trainer.run()
    assert trainer.stop_reason == "main/loss is nan at iteration 2"


def test_divergence(tmp_path):
    trainer, _ = run(tmp_path, [1, 99, 100, 101, 1], divergence=100)
    assert trainer.stop_reason == "metric 101 is beyond the limit 100 at iteration 4"
    trainer, _ = run(tmp_path, [0.5, 0.1, 0.5], divergence=0.2, mode="max")
    assert trainer.stop_reason == "metric 0.1 is beyond the limit 0.2 at iteration 2"


def test_means_of_intervals_are_compared(tmp_path):
    early = EarlyStop("metric", patience=1, trigger=(2, "iteration"), finite=())
    trainer = observing(tmp_path, [5, 1, 4, 1, 0, 9], early)
    trainer.run()
    assert trainer.updater.iteration == 6  # 3, 2.5, 4.5


def test_reason_in_the_log(tmp_path):
    early = EarlyStop("metric", patience=1, trigger=(2, "iteration"), finite=())
    trainer = observing(tmp_path, [1] * 9, extensions.LogReport(trigger=(2, "iteration")), early)
    trainer.run()
    log = json.loads((tmp_path / "log").read_text())
    assert [entry.get("stop_reason") for entry in log] == [None, trainer.stop_reason]


def test_key_that_is_never_observed(tmp_path):
    trainer = observing(tmp_path, [1, 1], EarlyStop("other", trigger=(1, "iteration")))
    with pytest.warns(UserWarning, match=r"'other' was not observed.*\['metric'\]") as warnings:
        trainer.run()
    assert len(warnings) == 1


def test_resumed(tmp_path):
    def make(stop):
        trainer = make_trainer(tmp_path, stop)
        early = EarlyStop("main/loss", 2, min_delta=0.3, trigger=(3, "iteration"), verbose=False)
        trainer.extend(early)
        return trainer, early

    whole, expected = make((30, "epoch"))
    whole.run()
    assert "not improved" in whole.stop_reason
    for iteration in (4, whole.updater.iteration - 1):
        first, _ = make((iteration, "iteration"))
        first.run()
        chainer.serializers.save_npz(tmp_path / "snapshot", first)
        second, early = make((30, "epoch"))
        chainer.serializers.load_npz(tmp_path / "snapshot", second)
        second.run()
        assert second.stop_reason == whole.stop_reason
        assert second.updater.iteration == whole.updater.iteration
        assert (early.best, early.count) == (expected.best, expected.count)


def test_resumed_after_the_end(tmp_path):
    trainer, _ = run(tmp_path, [1] * 9, patience=2, stop=9)
    chainer.serializers.save_npz(tmp_path / "snapshot", trainer)

    def resumed(patience):
        early = EarlyStop("metric", patience, trigger=(1, "iteration"), finite=())
        trainer = observing(tmp_path, [1] * 9, early)
        chainer.serializers.load_npz(tmp_path / "snapshot", trainer)
        trainer.run()
        return trainer

    assert resumed(2).updater.iteration == 3
    assert resumed(2).stop_reason == trainer.stop_reason
    assert resumed(4).updater.iteration == 5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"patience": 0}, "patience must be 1 or more, got 0"),
        ({"min_delta": -1}, "min_delta must be 0 or more, got -1"),
        ({"mode": "best"}, "mode must be 'auto', 'max' or 'min', got 'best'"),
        ({"divergence": float("nan")}, "divergence"),
    ],
)
def test_bad_arguments(options, text):
    with pytest.raises(ValueError, match=text):
        EarlyStop(**options)
