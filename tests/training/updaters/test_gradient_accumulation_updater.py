from __future__ import annotations

import weakref

import numpy as np
import pytest

import chainer
import chainer.functions as F
from chainer import optimizers, training
from chainer.training import extensions
from chainer.training.updaters import GradientAccumulationUpdater
from tests.training.observed_training import (
    Model,
    assert_same_rows,
    assert_same_weights,
    make_dataset,
    weights,
)


def make_model(dtype=np.float64):
    state = np.random.get_state()
    np.random.seed(0)
    with chainer.using_config("dtype", dtype):
        model = Model()
        model.l1.W.initialize((8, 4))
    for param in model.params():
        param.array = param.array.astype(dtype)
    np.random.set_state(state)
    return model


def make_trainer(
    out,
    batch,
    n=None,
    *,
    optimizer=optimizers.SGD,
    stop=(9, "iteration"),
    dtype=np.float64,
    repeat=True,
    size=30,
    **options,
):
    optimizer = optimizer().setup(make_model(dtype))
    data = make_dataset(size, dtype)
    order = chainer.iterators.ShuffleOrderSampler(np.random.RandomState(5))
    iterator = chainer.iterators.SerialIterator(data, batch, repeat=repeat, order_sampler=order)
    if n is None:
        updater = training.StandardUpdater(iterator, optimizer, **options)
    else:
        updater = GradientAccumulationUpdater(iterator, optimizer, n_accumulate=n, **options)
    trainer = training.Trainer(updater, stop, out=str(out))
    trainer.extend(extensions.LogReport(trigger=(1, "iteration"), log_name=None))
    return trainer


def log(trainer):
    return trainer.get_extension("LogReport").log


@pytest.mark.parametrize(
    "optimizer",
    [optimizers.SGD, optimizers.Adam, lambda: optimizers.MomentumSGD(0.1), optimizers.RMSprop],
)
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_equals_one_large_batch(tmp_path, optimizer, n):
    """Sixty examples in 9 updates of 12, of 30 examples: across the ends of epochs."""
    large = make_trainer(tmp_path, 12, optimizer=optimizer)
    small = make_trainer(tmp_path, 12 // n, n, optimizer=optimizer)
    large.run()
    small.run()
    for name, value in weights(large).items():
        np.testing.assert_allclose(weights(small)[name], value, rtol=1e-9, atol=1e-12)
    for actual, expected in zip(log(small), log(large), strict=True):
        assert actual["epoch"] == expected["epoch"]
        for key in ("main/loss", "main/accuracy"):
            assert actual[key] == pytest.approx(expected[key], rel=1e-9)


def test_hooks_see_the_whole_gradient(tmp_path):
    trainers = [make_trainer(tmp_path, 12), make_trainer(tmp_path, 4, 3)]
    for trainer in trainers:
        optimizer = trainer.updater.get_optimizer("main")
        optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(0.1))
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
        trainer.run()
    for name, value in weights(trainers[0]).items():
        np.testing.assert_allclose(weights(trainers[1])[name], value, rtol=1e-9, atol=1e-12)


def test_the_rest_at_the_end(tmp_path):
    """29 examples, without repetition: batches of 4 make up 12, 12 and 5 (4 and 1)."""
    large = make_trainer(tmp_path, 12, repeat=False, size=29, stop=(1, "epoch"))
    small = make_trainer(tmp_path, 4, 3, repeat=False, size=29, stop=(1, "epoch"))
    large.run()
    small.run()
    assert small.updater.iteration == large.updater.iteration == 3
    for name, value in weights(large).items():
        np.testing.assert_allclose(weights(small)[name], value, rtol=1e-9, atol=1e-12)
    with pytest.raises(StopIteration):
        small.updater.update()


def test_a_sum_as_the_loss(tmp_path):
    def mean_loss(x, t):
        return F.softmax_cross_entropy(model.l2(F.tanh(model.l1(x))), t)

    def sum_loss(x, t):
        return mean_loss(x, t) * len(x)

    options = {"size": 10, "repeat": False, "stop": (1, "iteration")}
    for loss_func, reduction in ((mean_loss, "mean"), (sum_loss, "sum")):
        large = make_trainer(tmp_path, 10, loss_func=loss_func, **options)
        small = make_trainer(tmp_path, 3, 4, loss_func=loss_func, reduction=reduction, **options)
        changes = []
        for trainer in (large, small):
            model = trainer.updater.get_optimizer("main").target
            before = model.l1.W.array.copy()
            trainer.run()
            changes.append(model.l1.W.array - before)
        np.testing.assert_allclose(changes[1], changes[0], rtol=1e-9)


@pytest.mark.parametrize("scale", [None, 1024.0])
def test_loss_scale(tmp_path, scale):
    large = make_trainer(tmp_path, 12, loss_scale=scale)
    small = make_trainer(tmp_path, 4, 3, loss_scale=scale)
    large.run()
    small.run()
    for name, value in weights(large).items():
        np.testing.assert_allclose(weights(small)[name], value, rtol=1e-9, atol=1e-12)


def test_loss_scale_saves_small_gradients():
    """Gradients of 2**-27 vanish in float16; scaled they do not."""
    found = []
    for scale in (None, 2.0**10):
        link = chainer.Link(w=(1,))
        link.w.array = np.ones(1, np.float16)
        optimizer = optimizers.SGD(2.0**10).setup(link)
        optimizer.use_fp32_update()
        data = np.full((4, 1), 2.0**-13, np.float16)
        iterator = chainer.iterators.SerialIterator(data, 1, shuffle=False)
        updater = GradientAccumulationUpdater(
            iterator,
            optimizer,
            loss_func=lambda x, link=link: F.sum(link.w * x * np.float16(2.0**-14)),
            loss_scale=scale,
            n_accumulate=4,
        )
        updater.update()
        found.append(float(link.w.update_rule._fp32_param.array[0]))
    assert found[0] == 1
    assert found[1] == pytest.approx(1 - 2.0**-17)


def test_memory_is_that_of_one_minibatch(tmp_path):
    alive = []

    def loss_func(x, t):
        alive.append(sum(ref() is not None for ref in refs))
        y = model(x, t)
        refs.append(weakref.ref(y.node))
        return y

    refs = []
    trainer = make_trainer(tmp_path, 2, 4, loss_func=loss_func, stop=(2, "iteration"))
    model = trainer.updater.get_optimizer("main").target
    trainer.run()
    assert alive == [0] * 8


@pytest.mark.parametrize("kind", [tuple, dict, "single"])
def test_converter_and_kinds_of_batches(kind):
    link = chainer.Link(w=(3,))
    calls = []

    def convert(batch, device):
        calls.append((len(batch), device))
        x = np.stack([example[0] for example in batch]).astype("f")[:, :3]
        return {tuple: (x, x), dict: {"a": x, "b": x}, "single": x}[kind]

    def loss(a, b=None):
        return F.sum(link.w * F.mean(a, axis=0))

    iterator = chainer.iterators.SerialIterator(make_dataset(), 5)
    optimizer = optimizers.SGD().setup(link)
    updater = GradientAccumulationUpdater(
        {"main": iterator}, {"main": optimizer}, convert, "@numpy", loss, n_accumulate=2
    )
    updater.update()
    assert calls == [(5, -1), (5, -1)]  # functions get a number, as in release 4
    assert updater.iteration == 1


def test_epochs(tmp_path):
    """Batches of 4 of 10 examples, two an update: an epoch ends in every first or second part."""
    trainer = make_trainer(tmp_path, 4, 2, size=10, stop=(5, "iteration"))
    seen = []
    optimizer = trainer.updater.get_optimizer("main")
    trainer.extend(
        lambda trainer: seen.append(
            (
                round(trainer.updater.previous_epoch_detail, 6),
                trainer.updater.epoch_detail,
                trainer.updater.is_new_epoch,
                optimizer.epoch,
            )
        ),
        name="seen",
    )
    fired = []
    trainer.extend(lambda t: fired.append(t.updater.iteration), name="f", trigger=(1, "epoch"))
    assert trainer.updater.previous_epoch_detail is None
    trainer.run()
    assert seen == [
        (0, 0.8, False, 0),
        (0.8, 1.6, True, 1),
        (1.6, 2.4, True, 2),
        (2.4, 3.2, True, 3),
        (3.2, 4.0, True, 4),
    ]
    assert fired == [2, 3, 4, 5]


def test_auto_new_epoch(tmp_path):
    trainer = make_trainer(tmp_path, 4, 2, size=4, stop=(3, "iteration"))  # two epochs an update
    trainer.run()
    assert trainer.updater.get_optimizer("main").epoch == 6
    trainer = make_trainer(tmp_path, 4, 2, size=4, stop=(3, "iteration"), auto_new_epoch=False)
    trainer.run()
    assert trainer.updater.get_optimizer("main").epoch == 0


def test_the_graph_can_be_dumped(tmp_path):
    trainers = [make_trainer(tmp_path, 12), make_trainer(tmp_path, 4, 3)]
    for trainer in trainers:
        trainer.extend(extensions.dump_graph("main/loss"))
        trainer.run()
        assert "LinearFunction" in (tmp_path / "cg.dot").read_text()
    for actual, expected in zip(*map(log, trainers), strict=True):
        assert actual["main/loss"] == pytest.approx(expected["main/loss"], rel=1e-9)


def test_values_without_a_mean_are_passed_on(tmp_path):
    def loss_func(x, t):
        chainer.report({"size": len(x), "text": "abc", "array": np.arange(len(x))})
        return model(x, t)

    trainer = make_trainer(
        tmp_path, 8, 2, loss_func=loss_func, size=10, repeat=False, stop=(1, "iteration")
    )
    model = trainer.updater.get_optimizer("main").target
    trainer.run()
    assert trainer.observation["size"] == pytest.approx(8 * 0.8 + 2 * 0.2)
    assert trainer.observation["text"] == "abc"
    assert trainer.observation["array"].tolist() == [0, 1]


def test_without_a_trainer():
    optimizer = optimizers.SGD().setup(make_model(np.float32))
    iterator = chainer.iterators.SerialIterator(make_dataset(), 5)
    GradientAccumulationUpdater(iterator, optimizer, n_accumulate=2).update()
    assert optimizer.t == 1


@pytest.mark.parametrize("iteration", [1, 4, 5])
def test_resumed_run_equals_an_uninterrupted_one(tmp_path, iteration):
    def make(stop):
        trainer = make_trainer(tmp_path, 4, 2, optimizer=optimizers.Adam, size=10, stop=stop)
        trainer.extend(extensions.LogReport(log_name=None), name="epochs")
        return trainer

    whole = make((9, "iteration"))
    whole.run()
    first = make((iteration, "iteration"))
    first.run()
    chainer.serializers.save_npz(tmp_path / "snapshot", first)
    second = make((9, "iteration"))
    chainer.serializers.load_npz(tmp_path / "snapshot", second)
    for name in ("previous_epoch_detail", "is_new_epoch"):
        assert getattr(second.updater, name) == getattr(first.updater, name)
    second.run()
    assert_same_weights(second, whole)
    assert_same_rows(log(second), log(whole))
    assert_same_rows(second.get_extension("epochs").log, whole.get_extension("epochs").log)


def test_snapshots_of_the_standard_updater(tmp_path):
    plain = make_trainer(tmp_path, 4, stop=(8, "iteration"))
    plain.run()
    chainer.serializers.save_npz(tmp_path / "snapshot", plain)
    trainer = make_trainer(tmp_path, 4, 2, stop=(9, "iteration"))
    chainer.serializers.load_npz(tmp_path / "snapshot", trainer)
    assert trainer.updater.is_new_epoch
    assert trainer.updater.previous_epoch_detail == plain.updater.previous_epoch_detail
    trainer.run()
    assert trainer.updater.epoch_detail == pytest.approx(40 / 30)
    chainer.serializers.save_npz(tmp_path / "snapshot", trainer)
    chainer.serializers.load_npz(tmp_path / "snapshot", plain)  # and back


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_accumulate": 0}, "n_accumulate must be 1 or more, got 0"),
        ({"n_accumulate": 2, "reduction": "no"}, "reduction must be 'mean' or 'sum', got 'no'"),
    ],
)
def test_bad_arguments(options, text):
    optimizer = optimizers.SGD().setup(make_model())
    iterator = chainer.iterators.SerialIterator(make_dataset(), 5)
    with pytest.raises(ValueError, match=text):
        GradientAccumulationUpdater(iterator, optimizer, **options)


def test_loss_functions_return_variables():
    optimizer = optimizers.SGD().setup(make_model(np.float32))
    iterator = chainer.iterators.SerialIterator(make_dataset(), 5)
    updater = GradientAccumulationUpdater(
        iterator, optimizer, loss_func=lambda x, t: 0.5, n_accumulate=2
    )
    with pytest.raises(TypeError, match="must return a Variable, got float"):
        updater.update()
