"""Schedules as plain objects and as extensions."""

import math

import numpy as np
import pytest

import chainer
from chainer.training import extensions, schedules
from tests.training.small_training import make_trainer


def values(schedule, count):
    return [schedule(t) for t in range(count)]


def test_cosine_with_warm_up_and_restarts():
    schedule = schedules.Cosine(1.0, 4, final=0.2, warmup=2, cycles=2, growth=2)
    cycle = [0.2 + 0.8 * (1 + math.cos(math.pi * i / 4)) / 2 for i in range(4)]
    longer = [0.2 + 0.8 * (1 + math.cos(math.pi * i / 8)) / 2 for i in range(8)]
    np.testing.assert_allclose(
        values(schedule, 16), [0.5, 1.0, *cycle, *longer, 0.2, 0.2], rtol=1e-12
    )


def test_one_cycle():
    schedule = schedules.OneCycle(2.0, 10, rise=0.4, start_factor=4, end_factor=10)
    up = [0.5 + 1.5 * (1 - math.cos(math.pi * t / 4)) / 2 for t in range(4)]
    down = [0.05 + 1.95 * (1 + math.cos(math.pi * t / 6)) / 2 for t in range(7)]
    np.testing.assert_allclose(values(schedule, 12), [*up, *down, 0.05], rtol=1e-12)


def test_polynomial_and_steps():
    np.testing.assert_allclose(
        values(schedules.Polynomial(1.0, 4, 2, 0.2), 6),
        [1.0, 0.2 + 0.8 * 9 / 16, 0.4, 0.25, 0.2, 0.2],
    )
    np.testing.assert_allclose(values(schedules.Step(1, 2, 0.5), 5), [1, 1, 0.5, 0.5, 0.25])
    np.testing.assert_allclose(
        values(schedules.Step(1, [1, 4], 0.5), 6), [1, 0.5, 0.5, 0.5, 0.25, 0.25]
    )


def test_plateau_with_cooldown_mode_and_minimum():
    schedule = schedules.ReduceOnPlateau(
        1.0, 0.1, patience=0, mode="max", cooldown=1, minimum=0.05, min_delta=0.5
    )
    results = [1, 2, 2.4, 2, 2, 2, float("nan")]
    expected = [1, 1, 0.1, 0.1, 0.05, 0.05, 0.05]
    np.testing.assert_allclose([schedule(r) for r in results], expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: schedules.Cosine(1, 0), "steps must be positive, got 0"),
        (lambda: schedules.Cosine(1, 1, warmup=-1), "warmup must not be negative, got -1"),
        (lambda: schedules.OneCycle(1, 5, rise=1), "rise must be between 0 and 1, got 1"),
        (lambda: schedules.Polynomial(1, 5, power=0), "power must be positive, got 0"),
        (lambda: schedules.Step(1, [3, 2]), r"ascending ones, got \[3, 2\]"),
        (lambda: schedules.Chained(), "needs one schedule or more"),
        (lambda: schedules.Chained((schedules.Constant(1), 2)), "last part must be None, got 2"),
        (
            lambda: schedules.Chained((schedules.Constant(1), None), (schedules.Constant(1), None)),
            r"Constant\(value=1\) must be positive, got None",
        ),
        (lambda: schedules.ReduceOnPlateau(1, factor=2), "factor must be between 0 and 1, got 2"),
        (lambda: schedules.ReduceOnPlateau(1, mode="low"), "mode must be 'min' or 'max'"),
        (lambda: extensions.Plateau("loss", patience=-1), "patience must not be negative"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def record(trainer, seen):
    @chainer.training.make_extension(priority=-1)
    def note(trainer):
        seen.append(trainer.updater.get_optimizer("main").lr)

    trainer.extend(note, trigger=(1, "iteration"))


def test_as_an_extension_and_resumed(tmp_path):
    schedule = schedules.Polynomial(0.01, 10)

    def train(stop, seen):
        trainer = make_trainer(tmp_path, (stop, "iteration"))
        trainer.extend(extensions.Scheduled("lr", schedule))
        record(trainer, seen)
        trainer.extend(
            extensions.snapshot(filename="s", autoload=True), trigger=(stop, "iteration")
        )
        trainer.run()

    seen = []
    train(2, seen)
    train(5, seen)
    np.testing.assert_allclose(seen, [schedule(t) for t in range(1, 6)])


def test_a_group_is_scheduled(tmp_path):
    trainer = make_trainer(tmp_path, (2, "iteration"))
    optimizer = trainer.updater.get_optimizer("main")
    group = optimizer.group(optimizer.target, lr=1.0)
    trainer.extend(extensions.Scheduled("lr", schedules.Step(0.001, 1, 0.5), optimizer=group))
    trainer.run()
    assert optimizer.lr == 0.01 and group.lr == 0.00025


def test_plateau_as_an_extension_and_resumed(tmp_path):
    losses = {1: 3.0, 2: 3.0, 3: 3.0, 4: 3.0}

    def train(stop):
        trainer = make_trainer(tmp_path, (stop, "epoch"))

        @chainer.training.make_extension(trigger=(1, "epoch"), priority=300)
        def evaluate(trainer):
            chainer.report({"val/loss": losses[trainer.updater.epoch]})

        trainer.extend(evaluate)
        trainer.extend(extensions.Plateau("val/loss", factor=0.5, patience=1))
        trainer.extend(extensions.snapshot(filename="s", autoload=True))
        trainer.run()
        return trainer.updater.get_optimizer("main").lr

    assert train(2) == 0.01
    assert train(3) == 0.005
    assert train(4) == 0.005


def test_errors_of_the_extensions(tmp_path):
    with pytest.raises(TypeError, match="schedule must be a function of the number of calls"):
        extensions.Scheduled("lr", schedules.ReduceOnPlateau(1.0))
    with pytest.raises(TypeError, match=r"options \['factor'\] belong to the schedule"):
        extensions.Plateau("loss", schedule=schedules.ReduceOnPlateau(1.0), factor=0.5)
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.Plateau("no/loss"))
    with pytest.raises(KeyError, match="Plateau looks for 'no/loss'; observed: "):
        trainer.run(show_loop_exception_msg=False)
