from __future__ import annotations

import pytest

import chainer
from chainer import training
from chainer.training.triggers import AnyTrigger, StopRequestedTrigger
from tests.training.observed_training import make_trainer, observing


def test_stop_requested(tmp_path):
    fired = []
    trainer = observing(tmp_path, [1] * 9)
    trainer.extend(
        lambda trainer: fired.append(trainer.updater.iteration),
        name="last",
        trigger=StopRequestedTrigger(),
    )
    stop = training.make_extension(trigger=(4, "iteration"), priority=200)
    trainer.extend(stop(lambda trainer: trainer.stop("enough")), name="stop")
    trainer.run()
    assert fired == [4]


def record(trainer, trigger):
    fired = []
    trainer.extend(lambda t: fired.append(t.updater.iteration), name="record", trigger=trigger)
    return fired


def test_any(tmp_path):
    trainer = observing(tmp_path, [1] * 12)
    fired = record(trainer, AnyTrigger((3, "iteration"), (4, "iteration")))
    trainer.run()
    assert fired == [3, 4, 6, 8, 9, 12]


def test_any_is_resumed(tmp_path):
    """Epochs of 5 iterations: only the saved state tells that iteration 5 has been."""

    def make(stop):
        trainer = make_trainer(tmp_path, (stop, "iteration"))
        counted = training.triggers.ManualScheduleTrigger([2, 7], "iteration")
        return trainer, record(trainer, AnyTrigger((1, "epoch"), counted))

    whole, expected = make(12)
    whole.run()
    assert expected == [2, 5, 7, 10]
    for stop in (1, 5, 6):
        first, before = make(stop)
        first.run()
        chainer.serializers.save_npz(tmp_path / "s", first)
        second, after = make(12)
        chainer.serializers.load_npz(tmp_path / "s", second)
        second.run()
        assert before + after == expected


def test_any_needs_triggers():
    with pytest.raises(ValueError, match="at least one"):
        AnyTrigger()
