from __future__ import annotations

import pytest

from chainer.links.serializers.npz import load_npz, save_npz
from chainer.training import extensions as E
from chainer.training import optimizers
from tests.training.small_training import make_trainer

# Learning rates during eight iterations, observed in release 7.8.1 (the first five also in 4.3.1).
CASES = [
    (
        lambda: E.ExponentialShift("lr", 0.5),
        [0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125, 0.0015625, 0.00078125],
    ),
    (
        lambda: E.ExponentialShift("lr", 0.5, init=1.0, target=0.2),
        [1, 0.5, 0.25, 0.2, 0.2, 0.2, 0.2, 0.2],
    ),
    (
        lambda: E.ExponentialShift("lr", 2.0, target=0.5),
        [0.1, 0.2, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    (lambda: E.LinearShift("lr", (1.0, 0.0), (2, 6)), [1, 1, 1, 0.75, 0.5, 0.25, 0, 0]),
    (lambda: E.LinearShift("lr", (0.0, 1.0), (0, 2)), [0, 0.5, 1, 1, 1, 1, 1, 1]),
    (
        lambda: E.InverseShift("lr", 0.1, 0.75),
        [0.1, 0.093101, 0.08722, 0.082138, 0.077697, 0.073779, 0.070293, 0.067168],
    ),
    (
        lambda: E.InverseShift("lr", 0.1, 0.75, init=1.0, target=0.8),
        [1, 0.931012, 0.872196, 0.821377, 0.8, 0.8, 0.8, 0.8],
    ),
    (
        lambda: E.MultistepShift("lr", 0.1, [2, 4], 1.0),
        [1, 1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01],
    ),
    (lambda: E.PolynomialShift("lr", 2.0, 5), [0.1, 0.064, 0.036, 0.016, 0.004, 0, 0, 0]),
    (
        lambda: E.PolynomialShift("lr", 0.5, 20, init=1.0, target=0.9),
        [1, 0.974679, 0.948683, 0.921954, 0.9, 0.9, 0.9, 0.9],
    ),
    (lambda: E.StepShift("lr", 0.1, 2), [0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001]),
    (lambda: E.StepShift("lr", 0.5, 2, init=1.0, target=0.3), [1, 1, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3]),
    (lambda: E.WarmupShift("lr", 0.1, 4, 1.0), [0.1, 0.325, 0.55, 0.775, 1, 1, 1, 1]),
    (lambda: E.WarmupShift("lr", None, 4, 0.9), [0.1, 0.3, 0.5, 0.7, 0.9, 0.9, 0.9, 0.9]),
    (
        lambda: E.PolynomialShift("lr", -1.0, 20, init=1.0, target=1.2),
        [1, 1.052632, 1.111111, 1.176471, 1.2, 1.2, 1.2, 1.2],
    ),
    # Towards the target by the ratio, from negative values and from the wrong side, too.
    (
        lambda: E.ExponentialShift("lr", 0.5, init=-1.0, target=-0.2),
        [-1, -0.5, -0.25, -0.2, -0.2, -0.2, -0.2, -0.2],
    ),
    (
        lambda: E.InverseShift("lr", 0.5, 1, init=-1.0, target=-0.4),
        [-1, -0.666667, -0.5, -0.4, -0.4, -0.4, -0.4, -0.4],
    ),
    (
        lambda: E.InverseShift("lr", 0.5, -1, init=1.0, target=2.0),
        [1, 1.5, 2, 2, 2, 2, 2, 2],
    ),
    (lambda: E.StepShift("lr", 2.0, 2, init=1.0, target=3.0), [1, 1, 2, 2, 3, 3, 3, 3]),
    (lambda: E.ExponentialShift("lr", 0.5, init=1.0, target=3.0), [1, 3, 3, 3, 3, 3, 3, 3]),
    (lambda: E.InverseShift("lr", 0.5, 1, init=1.0, target=4.0), [1, 4, 4, 4, 4, 4, 4, 4]),
    (lambda: E.PolynomialShift("lr", 2, 20, init=1.0, target=4.0), [1, 4, 4, 4, 4, 4, 4, 4]),
    # 7.8.1 divides by zero after max_count.
    (
        lambda: E.PolynomialShift("lr", 1, 5, init=1.0, target=0.5),
        [1, 0.8, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
]
IDS = [f"{index}-{type(make()).__name__}" for index, (make, _) in enumerate(CASES)]


def run(tmp_path, shift, iterations, load=None, save=None):
    trainer = make_trainer(tmp_path, (iterations, "iteration"), optimizer=optimizers.SGD(0.1))
    seen = []
    trainer.extend(
        lambda t: seen.append(t.updater.get_optimizer("main").lr), name="look", priority=500
    )
    trainer.extend(shift)
    if load is not None:
        load_npz(load, trainer)
    trainer.run()
    if save is not None:
        save_npz(save, trainer)
    return seen


@pytest.mark.filterwarnings("ignore:.*negative learning rate:chainer.MisuseWarning")
@pytest.mark.parametrize(("make", "expected"), CASES, ids=IDS)
def test_values(make, expected, tmp_path):
    assert run(tmp_path, make(), 8) == pytest.approx(expected, rel=1e-4, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*negative learning rate:chainer.MisuseWarning")
@pytest.mark.parametrize(("make", "expected"), CASES, ids=IDS)
@pytest.mark.parametrize("at", [1, 3, 6])
def test_resume(make, expected, at, tmp_path):
    run(tmp_path, make(), at, save=tmp_path / "snapshot")
    rest = run(tmp_path, make(), 8, load=tmp_path / "snapshot")
    assert rest == pytest.approx(expected[at:], rel=1e-4, abs=1e-9)


def test_warmup_before_another_shift(tmp_path):
    """After the warm-up the attribute belongs to others; numbers observed in 7.8.1."""
    trainer = make_trainer(tmp_path, (10, "iteration"))
    sgd = trainer.updater.get_optimizer("main")
    trainer.extend(E.WarmupShift("lr", 0.1, 4, 1.0), priority=10)
    trainer.extend(E.ExponentialShift("lr", 0.5, init=1.0), trigger=(5, "iteration"), priority=5)
    seen = []
    trainer.extend(lambda t: seen.append(sgd.lr), name="look", priority=-1)
    trainer.run()
    assert seen == pytest.approx([0.325, 0.55, 0.775, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25])


def test_second_run_after_the_warmup(tmp_path):
    trainer = make_trainer(tmp_path, (10, "iteration"))
    sgd = trainer.updater.get_optimizer("main")
    trainer.extend(E.WarmupShift("lr", 0.1, 2, 1.0))

    def interrupt(trainer):
        if sgd.lr == 1.0 and trainer.updater.iteration == 5:
            sgd.lr = 0.01
            raise KeyboardInterrupt

    trainer.extend(interrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    trainer.run()
    assert sgd.lr == 0.01


def test_given_optimizer(tmp_path):
    other = optimizers.SGD(1.0)
    shift = E.ExponentialShift("lr", 0.5, optimizer=other)
    assert run(tmp_path, shift, 3) == [0.1] * 3
    assert other.lr == 0.125


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match="negative rate"):
        E.ExponentialShift("lr", -0.5)
    with pytest.raises(ValueError, match="negative gamma"):
        E.InverseShift("lr", -0.5, 1)
    with pytest.raises(TypeError, match="value_range must be a pair of numbers, got 3"):
        E.LinearShift("lr", 3, (1, 2))
    trainer = make_trainer(tmp_path, optimizer=optimizers.Adam())
    trainer.extend(E.ExponentialShift("lr", 0.5))
    with pytest.raises(AttributeError, match="'lr' of Adam is computed and cannot be set"):
        trainer.run(show_loop_exception_msg=False)
    trainer = make_trainer(tmp_path)
    trainer.extend(E.ExponentialShift("rate", 0.5))
    with pytest.raises(AttributeError, match="SGD has no attribute 'rate'"):
        trainer.run(show_loop_exception_msg=False)
