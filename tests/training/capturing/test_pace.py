"""A captured step that is slower than the step as written runs as written."""

from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.training.capturing import capture as capture_module
from chainer.training.capturing import pace as pace_module
from chainer.training.capturing.pace import Pace
from chainer.training.capturing.step_record import StepRecord


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self):
        return self.now

    def passes(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pace_module, "perf_counter", clock)
    return clock


class Steps:
    """A training step, and the clock that tells how long it takes as written and as a record."""

    def __init__(self, clock, monkeypatch, written, repeated):
        np.random.seed(0)
        self.model = L.Linear(4, 3)
        self.optimizer = chainer.optimizers.Adam().setup(self.model)
        # Not an attribute that the step sees.
        self.seconds = {"written": written, "repeated": repeated}
        self.counts = {"written": 0, "repeated": 0}
        for owner, name, kind in (
            (capture_module._StepCall, "written", "written"),
            (StepRecord, "__call__", "repeated"),
        ):
            monkeypatch.setattr(owner, name, self.timed(getattr(owner, name), clock, kind))
        model, optimizer = self.model, self.optimizer

        def step(x):
            loss = F.sum(model(x) ** 2)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        self.step = step

    def timed(self, function, clock, kind):
        def run(*args):
            self.counts[kind] += 1
            clock.passes(self.seconds[kind])
            return function(*args)

        return run

    def losses(self, run, count):
        return [float(run(np.full((2, 4), 0.1 * i + 1, np.float32)).array) for i in range(count)]


def test_a_faster_record_is_repeated_and_no_times_are_taken_then(clock, monkeypatch):
    steps = Steps(clock, monkeypatch, written=2.0, repeated=1.0)
    captured = chainer.capture(steps.step, steps.model, steps.optimizer)
    steps.losses(captured, 20)
    # The first call and the third one, which compares both.
    assert steps.counts == {"written": 2, "repeated": 18}
    assert "in use" in str(chainer.explain(captured))


def test_a_slower_record_is_not_used(clock, monkeypatch):
    expected = Steps(clock, monkeypatch, 0.0, 0.0)
    expected = expected.losses(expected.step, 40)
    steps = Steps(clock, monkeypatch, written=1.0, repeated=1.3)
    captured = chainer.capture(steps.step, steps.model, steps.optimizer)
    losses = steps.losses(captured, 40)
    # The numbers are the same in both ways.
    assert losses == expected
    # One in the comparison, four that are watched, and the turns. The second call is the recording.
    assert steps.counts == {"written": 40 - 1 - 9, "repeated": 10}
    told = str(chainer.explain(captured))
    assert "runs as it is written, which is faster: a repetition takes 1.3e+03 ms" in told
    assert "not in use" in told


def test_other_shapes_keep_their_record(clock, monkeypatch):
    steps = Steps(clock, monkeypatch, written=1.0, repeated=1.3)
    captured = chainer.capture(steps.step, steps.model, steps.optimizer)
    steps.losses(captured, 20)
    steps.seconds["written"] = 2.0
    steps.counts.update(written=0, repeated=0)
    for _ in range(10):
        captured(np.ones((5, 4), np.float32))
    assert steps.counts == {"written": 2, "repeated": 8}


@pytest.mark.parametrize("options", [{"on_failure": "error"}, {"audit": 100}])
def test_who_asks_for_the_record_gets_it(clock, monkeypatch, options):
    steps = Steps(clock, monkeypatch, written=1.0, repeated=3.0)
    captured = chainer.capture(steps.step, steps.model, steps.optimizer, **options)
    steps.losses(captured, 30)
    assert steps.counts["written"] == 2


def test_one_slow_repetition_decides_nothing(clock):
    pace = Pace()
    pace.written(lambda: clock.passes(1.0))
    pace.repeated(lambda: clock.passes(9.0))
    assert not pace.is_settled
    pace.repeated(lambda: clock.passes(0.9))
    assert pace.is_settled
    assert not pace.is_slower


def test_one_lucky_time_as_written_decides_nothing(clock):
    pace = Pace()
    pace.written(lambda: clock.passes(0.5))
    ways = []
    while not pace.is_settled:
        ways.append(pace.is_due_as_written())
        if ways[-1]:
            pace.written(lambda: clock.passes(2.0))
        else:
            pace.repeated(lambda: clock.passes(1.0))
    assert not pace.is_slower
    # Four that are watched, and then both in turn.
    assert ways[:8] == [False, False, False, False, True, False, True, False]


def test_programs_that_round_at_other_places_are_repeated(clock, monkeypatch):
    """To give one up would change roundings: results must not depend on times."""
    steps = Steps(clock, monkeypatch, written=1.0, repeated=3.0)
    rounds = property(lambda self: False, lambda self, is_exact: None)
    monkeypatch.setattr(StepRecord, "is_exact", rounds, raising=False)
    captured = chainer.capture(steps.step, steps.model, steps.optimizer)
    steps.losses(captured, 30)
    assert steps.counts["written"] == 2
