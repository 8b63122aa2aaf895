from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

from chainer.links.serializers.npz import DictionarySerializer, NpzDeserializer
from chainer.training import triggers
from chainer.training.trainer import Trainer
from chainer.training.trigger import get_trigger
from tests.training.small_training import FakeUpdater


class Run:
    """Steps through iterations and asks a trigger after each."""

    def __init__(self, trigger, batch=1, values=None):
        self.trigger = trigger
        self.updater = FakeUpdater(batch)
        self.observation = {}
        self.elapsed_time = 0.0
        self._values = values

    def step(self):
        self.updater.update()
        if self._values is not None:
            self.observation = {"value": self._values[self.updater.iteration - 1]}
        return self.trigger(self)

    def fired(self, iterations):
        return [self.updater.iteration for _ in range(iterations) if self.step()]


class PlainUpdater:
    """Knows nothing of previous_epoch_detail: neither do the iterators of the guides."""

    iteration = 0

    @property
    def epoch_detail(self):
        return self.iteration / 3

    def update(self):
        self.iteration += 1


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (triggers.IntervalTrigger(1, "epoch"), [3, 6, 9]),
        (triggers.ManualScheduleTrigger([1, 2], "epoch"), [3, 6]),
    ],
)
@pytest.mark.parametrize("start", [0, 2, 3])
def test_updaters_without_previous_epoch_detail(trigger, expected, start):
    run = Run(copy.deepcopy(trigger))
    run.updater = PlainUpdater()
    run.updater.iteration = start
    if start == 0:
        assert not run.trigger(run)  # a stop trigger asks before the first iteration
    else:  # resumed from a file without the state
        load_nothing(run.trigger)
    assert run.fired(9 - start) == [iteration for iteration in expected if iteration > start]


def save(obj):
    target = {}
    DictionarySerializer(target).save(obj)
    return {key: np.array(value) for key, value in target.items()}


def load_nothing(trigger):
    """Loads a file that has no entry of a trigger."""
    with pytest.warns(UserWarning, match="the snapshot has no entry"):
        NpzDeserializer({}).load(trigger)


def fired_with_resumes(make, iterations, **kwargs):
    """Run.fired() with a new trigger, restored from the old one, after each iteration."""
    run = Run(make(), **kwargs)
    fired = []
    for _ in range(iterations):
        if run.step():
            fired.append(run.updater.iteration)
        fresh = make()
        NpzDeserializer(save(run.trigger)).load(fresh)
        run.trigger = fresh
    return fired


# Iterations observed in releases 4.3.1 and 7.8.1 (ten examples, batches of three).
INTERVALS = [
    ((2, "iteration"), [2, 4, 6, 8, 10, 12]),
    ((1.5, "iteration"), [2, 3, 5, 6, 8, 9, 11, 12]),
    ((1, "epoch"), [4, 7, 10]),
    ((0.5, "epoch"), [2, 4, 5, 7, 9, 10, 12]),
    ((0.3, "epoch"), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]),
]
SCHEDULES = [
    (([2, 5], "iteration"), [2, 5]),
    (([0.5, 1.3], "epoch"), [2, 5]),
    ((1, "epoch"), [4]),
    ((3, "iteration"), [3]),
]
VALUES = [3, 2, 2.5, 1, 1, 4, 5, 6, 0.5, 7, 8, 9]


class TestGetTrigger:
    def test_callable(self):
        assert get_trigger(len) is len

    def test_none_never_fires(self):
        assert get_trigger(None)(None) is False

    def test_pair(self):
        trigger = get_trigger((3, "epoch"))
        assert isinstance(trigger, triggers.IntervalTrigger)
        assert repr(trigger) == "IntervalTrigger(3, 'epoch')"

    @pytest.mark.parametrize("value", [3, "epoch", (1, 2, 3), (1,)])
    def test_something_else(self, value):
        with pytest.raises(TypeError, match="trigger must be a callable, a pair"):
            get_trigger(value)

    def test_unknown_unit(self):
        with pytest.raises(ValueError, match="must be either 'epoch' or 'iteration', got 'epochs'"):
            get_trigger((1, "epochs"))


class TestIntervalTrigger:
    @pytest.mark.parametrize(("arguments", "expected"), INTERVALS)
    def test_iterations(self, arguments, expected):
        run = Run(triggers.IntervalTrigger(*arguments), batch=3)
        assert run.fired(12) == expected

    @pytest.mark.parametrize(("arguments", "expected"), INTERVALS)
    def test_resume(self, arguments, expected):
        make = lambda: triggers.IntervalTrigger(*arguments)
        assert fired_with_resumes(make, 12, batch=3) == expected

    def test_skipped_iterations(self):
        # It is asked rarely, and fires when a multiple was passed in between.
        run = Run(triggers.IntervalTrigger(4, "iteration"))
        run.step()
        run.updater.iteration = 6
        assert run.trigger(run)
        assert not run.trigger(run)

    def test_does_not_fire_before_the_first_iteration(self):
        run = Run(None)
        assert not triggers.IntervalTrigger(3, "iteration")(run)
        assert not triggers.IntervalTrigger(3, "epoch")(run)

    @pytest.mark.parametrize("make", [triggers.IntervalTrigger, triggers.ManualScheduleTrigger])
    @pytest.mark.parametrize("unit", ["iteration", "epoch"])
    def test_first_call_after_a_multiple_was_passed(self, make, unit):
        # 4.3.1 and 7.8.1 fire: the position before the first call is 0.
        run = Run(make(4, unit), batch=10)
        run.updater.iteration = 9
        assert run.fired(2) == [10]

    @pytest.mark.parametrize(
        ("make", "more"),
        [(triggers.IntervalTrigger, []), (triggers.ManualScheduleTrigger, ["finished"])],
    )
    @pytest.mark.parametrize("unit", ["iteration", "epoch"])
    def test_first_call_after_a_file_without_the_position(self, make, more, unit):
        run = Run(make(4, unit), batch=10)
        run.updater.iteration = 9
        with pytest.warns(UserWarning, match="the snapshot has no entry") as warned:
            NpzDeserializer({}).load(run.trigger)
        names = [str(each.message).split("'")[1] for each in warned]
        assert names == ["previous_iteration", "previous_epoch_detail", *more]
        assert run.fired(2) == []

    def test_count(self):
        trigger = triggers.IntervalTrigger(2, "epoch")
        run = Run(trigger, batch=5)
        assert trigger.count == 0
        run.fired(9)
        assert trigger.count == 2  # 4.5 epochs
        assert triggers.IntervalTrigger(2, "iteration").count == 0

    def test_length(self):
        assert triggers.IntervalTrigger(3, "epoch").get_training_length() == (3, "epoch")

    @pytest.mark.parametrize("period", [0, -1])
    def test_bad_period(self, period):
        with pytest.raises(ValueError, match="period must be positive"):
            triggers.IntervalTrigger(period, "epoch")

    def test_names_in_files(self):
        assert sorted(save(triggers.IntervalTrigger(1, "epoch"))) == [
            "previous_epoch_detail",
            "previous_iteration",
        ]


class TestManualScheduleTrigger:
    @pytest.mark.parametrize(("arguments", "expected"), SCHEDULES)
    def test_iterations(self, arguments, expected):
        run = Run(triggers.ManualScheduleTrigger(*arguments), batch=3)
        assert run.fired(12) == expected
        assert run.trigger.finished

    @pytest.mark.parametrize(("arguments", "expected"), SCHEDULES)
    def test_resume(self, arguments, expected):
        make = lambda: triggers.ManualScheduleTrigger(*arguments)
        assert fired_with_resumes(make, 12, batch=3) == expected

    def test_unknown_unit(self):
        with pytest.raises(ValueError, match="Trigger unit"):
            triggers.ManualScheduleTrigger([1], "day")

    def test_finished(self):
        trigger = triggers.ManualScheduleTrigger([2, 4], "iteration")
        run = Run(trigger)
        seen = []
        for _ in range(5):
            run.step()
            seen.append(trigger.finished)
        assert seen == [False, False, False, True, True]

    def test_finished_is_not_in_the_file(self):
        # As release 4 writes it.
        run = Run(triggers.ManualScheduleTrigger([2], "iteration"))
        run.fired(3)
        trigger = triggers.ManualScheduleTrigger([2], "iteration")
        state = save(run.trigger)
        assert state.pop("finished")
        with pytest.warns(UserWarning, match="the snapshot has no entry 'finished'"):
            NpzDeserializer(state).load(trigger)
        assert not trigger.finished
        assert not trigger(run)
        assert trigger.finished


class TestOnceTrigger:
    def test_iterations(self):
        trigger = triggers.OnceTrigger()
        assert not trigger.finished
        assert Run(trigger).fired(3) == [1]
        assert trigger.finished

    @pytest.mark.parametrize(("on_resume", "expected"), [(False, []), (True, [1])])
    @pytest.mark.parametrize("in_file", [True, False])
    def test_resume(self, on_resume, expected, in_file):
        run = Run(triggers.OnceTrigger(on_resume))
        run.step()
        state = save(run.trigger)
        assert {key: bool(value) for key, value in state.items()} == {"_flag_first": False}
        trigger = triggers.OnceTrigger(on_resume)
        if in_file:
            NpzDeserializer(state).load(trigger)
        else:  # counts as fired
            load_nothing(trigger)
        assert trigger.finished is not on_resume
        assert Run(trigger).fired(3) == expected
        assert trigger.finished

    @pytest.mark.parametrize("on_resume", [False, True])
    def test_resume_before_it_has_fired(self, on_resume):
        trigger = triggers.OnceTrigger(on_resume)
        NpzDeserializer(save(triggers.OnceTrigger(on_resume))).load(trigger)
        assert not trigger.finished
        assert Run(trigger).fired(3) == [1]

    def test_saving_changes_nothing(self):
        run = Run(triggers.OnceTrigger(True))
        run.step()
        save(run.trigger)
        assert run.trigger.finished
        assert run.fired(2) == []


class TestTimeTrigger:
    def test_fires_after_each_period(self):
        run = Run(triggers.TimeTrigger(2.0))
        fired = []
        for time in (0.5, 1.9, 2.0, 3.0, 4.5, 4.6, 11.0, 11.1, 11.2, 12.0, 12.1):
            run.elapsed_time = time
            if run.step():
                fired.append(time)
        # As release 7.8.1: the multiple itself is not after it, and missed ones are made up for.
        assert fired == [3.0, 4.5, 11.0, 11.1, 11.2, 12.1]

    def test_resume(self):
        run = Run(triggers.TimeTrigger(2.0))
        run.elapsed_time = 3.0
        assert run.step()
        other = triggers.TimeTrigger(2.0)
        NpzDeserializer(save(run.trigger)).load(other)
        assert not other(run)

    def test_bad_period(self):
        with pytest.raises(ValueError, match="period must be positive"):
            triggers.TimeTrigger(0)


# Iterations observed in releases 4.3.1 and 7.8.1.
BEST = [
    (lambda: triggers.MinValueTrigger("value", (1, "iteration")), [1, 2, 4, 9]),
    (lambda: triggers.MaxValueTrigger("value", (1, "iteration")), [1, 6, 7, 8, 10, 11, 12]),
    (lambda: triggers.MaxValueTrigger("value", (2, "iteration")), [2, 8, 12]),
    (
        lambda: triggers.BestValueTrigger("value", lambda old, new: new < old, (1, "iteration")),
        [1, 2, 4, 9],
    ),
]


class TestBestValueTrigger:
    @pytest.mark.parametrize(("make", "expected"), BEST)
    def test_iterations(self, make, expected):
        assert Run(make(), values=VALUES).fired(12) == expected

    @pytest.mark.parametrize(("make", "expected"), BEST)
    def test_resume(self, make, expected):
        assert fired_with_resumes(make, 12, values=VALUES) == expected

    def test_value_that_is_not_reported(self):
        run = Run(triggers.MaxValueTrigger("value", (1, "iteration")))
        assert run.fired(3) == []
        assert run.trigger.best_value is None

    def test_files_of_release_4_do_not_contain_it(self):
        trigger = triggers.MaxValueTrigger("value")
        load_nothing(trigger)
        assert trigger.best_value is None


def early_stop(**kwargs):
    return triggers.EarlyStoppingTrigger(
        **{
            "monitor": "value",
            "check_trigger": (1, "iteration"),
            "max_trigger": (12, "iteration"),
            **kwargs,
        }
    )


class TestEarlyStoppingTrigger:
    # Iterations observed in releases 4.3.1 and 7.8.1.
    @pytest.mark.parametrize(
        ("kwargs", "expected"),
        [
            ({}, 7),
            ({"mode": "max"}, 4),
            ({"patients": 2}, 6),
            ({"patience": 2}, 6),
            ({"mode": "max", "patients": 20}, 12),
        ],
    )
    def test_iteration(self, kwargs, expected):
        run = Run(early_stop(**kwargs), values=VALUES)
        assert run.fired(12)[0] == expected

    def test_resume(self):
        assert fired_with_resumes(early_stop, 12, values=VALUES)[0] == 7

    def test_names_of_patience(self):
        make = triggers.EarlyStoppingTrigger
        assert make().patience == make().patients == 3
        assert make(patience=2).patients == make(patients=2).patience == 2
        assert make((1, "epoch"), "value", 5).patience == 5
        with pytest.raises(TypeError, match="give one of them"):
            make(patience=2, patients=2)

    def test_value_that_is_missing_when_compared(self):
        # Numbers observed in 7.8.1: the values of that interval count in the next one.
        values = [1, 2, 3, 4, 5, 6, 7, None, 3, 2, 2, 2, 1, 1, 1, 1]
        trigger = early_stop(check_trigger=(4, "iteration"), max_trigger=(100, "iteration"))
        run = Run(trigger)
        counts = []

        def ask():
            for value in values:
                run.updater.update()
                run.observation = {} if value is None else {"value": value}
                trigger(run)
                counts.append((trigger.best, trigger.count))

        with pytest.warns(UserWarning, match="value is not in observation"):
            ask()
        assert counts[3::4] == [(2.5, 0), (2.5, 0), (2.5, 1), (1.0, 0)]

    def test_files_of_other_releases_do_not_contain_it(self):
        trigger = early_stop()
        NpzDeserializer({}).load(trigger)
        assert trigger.count == 0

    def test_auto_mode_maximizes_accuracy(self):
        trigger = early_stop(monitor="validation/main/accuracy")
        assert trigger.best == -np.inf

    def test_missing_value_warns_once(self):
        run = Run(early_stop(monitor="nope"), values=VALUES)
        with pytest.warns(UserWarning, match="nope is not in observation"):
            run.step()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run.fired(11) == [12]

    def test_verbose(self, capsys):
        run = Run(early_stop(verbose=True), values=VALUES)
        run.fired(7)
        out = capsys.readouterr().out
        assert out.startswith("early stopping: operator is less\n")
        assert "Epoch 0: early stopping\n" in out

    def test_length(self):
        assert early_stop().get_training_length() == (12, "iteration")

    def test_bad_arguments(self):
        with pytest.raises(ValueError, match="mode must be"):
            early_stop(mode="up")
        with pytest.raises(TypeError, match="'patiens'"):
            early_stop(patiens=3)

    def test_stops_a_trainer(self, tmp_path):
        trainer = Trainer(FakeUpdater(), early_stop(), out=tmp_path)

        def observe(trainer):
            trainer.observation["value"] = VALUES[trainer.updater.iteration - 1]

        trainer.extend(observe, name="observe")
        trainer.run()
        assert trainer.updater.iteration == 7


class WithoutEpochs:
    """An updater that counts iterations only."""

    iteration = 3


def test_updater_without_epochs():
    run = Run(None)
    run.updater = WithoutEpochs()
    assert triggers.IntervalTrigger(3, "iteration")(run)
    with pytest.raises(AttributeError, match="WithoutEpochs has no epoch_detail"):
        triggers.IntervalTrigger(3, "epoch")(run)
