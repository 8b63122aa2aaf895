from __future__ import annotations

import numpy as np
import pytest

import chainer
import chainer.links as L
from chainer.training import extensions
from chainer.training.extensions import EMAEvaluator, ExponentialMovingAverage
from tests.training.observed_training import (
    Model,
    assert_same_rows,
    assert_same_weights,
    make_trainer,
    weights,
)


def link_of(*values, dtype=np.float64):
    link = chainer.Link(w=(len(values),))
    link.w.array = np.array(values, dtype)
    return link


def test_formula():
    link = link_of(1, 2)
    ema = ExponentialMovingAverage(link, decay=0.75)
    ema()
    for value in (5, 9):
        link.w.array[...] = value
        ema()
    with ema.applied():
        # 1, then 1 + (5 - 1) / 4 = 2, then 2 + (9 - 2) / 4
        np.testing.assert_allclose(link.w.array, [3.75, 4.3125])
    assert ema.n_updates == 3


def test_warmup():
    link = link_of(0)
    ema = ExponentialMovingAverage(link, decay=0.9, warmup=True)
    expected = 0.0
    for n in range(1, 120):
        link.w.array[...] = n
        ema()
        decay = min(0.9, (1 + n) / (10 + n))
        expected = n if n == 1 else decay * expected + (1 - decay) * n
    with ema.applied():
        np.testing.assert_allclose(link.w.array, [expected])


def test_applied_gives_back_what_was_there():
    link = link_of(1, 2)
    ema = ExponentialMovingAverage(link, decay=0.5)
    ema()
    link.w.array[...] = 7
    link.w.grad = np.ones(2)
    array = link.w.array
    with ema.applied() as applied:
        assert applied is link
        np.testing.assert_array_equal(link.w.array, [1, 2])
        assert link.w.array is array
    np.testing.assert_array_equal(array, [7, 7])
    assert link.w.array is array
    np.testing.assert_array_equal(link.w.grad, [1, 1])
    with pytest.raises(KeyError, match="inside"), ema.applied():
        raise KeyError("inside")
    np.testing.assert_array_equal(array, [7, 7])


def test_applied_to_another_link():
    link = link_of(1, 2)
    ema = ExponentialMovingAverage(link)
    ema()
    other = link.copy(mode="copy")
    other.w.array[...] = 0
    with ema.applied(other):
        np.testing.assert_array_equal(other.w.array, [1, 2])
    np.testing.assert_array_equal(other.w.array, [0, 0])
    ema.copy_to(other)
    np.testing.assert_array_equal(other.w.array, [1, 2])


@pytest.mark.parametrize(
    ("link", "text"),
    [
        (chainer.Link(v=(2,)), "link must have '/w' of shape .2,., as the target has.*missing"),
        (chainer.Link(w=(3,)), "but there it is .3,."),
    ],
)
def test_applied_to_a_link_of_another_structure(link, text):
    ema = ExponentialMovingAverage(link_of(1, 2))
    ema()
    before = {name: param.array.copy() for name, param in link.namedparams()}
    with pytest.raises(ValueError, match=text), ema.applied(link):
        pass
    for name, param in link.namedparams():
        np.testing.assert_array_equal(param.array, before[name])


def test_parameters_that_are_initialized_later():
    link = L.Linear(None, 2)
    ema = ExponentialMovingAverage(link, decay=0.5)
    ema()
    link(np.ones((1, 3), np.float32))
    W = link.W.array.copy()
    ema()
    link.W.array[...] += 1
    ema()
    with ema.applied():
        np.testing.assert_allclose(link.W.array, W + 0.5, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype_stays(dtype):
    link = link_of(1, 2, dtype=dtype)
    ema = ExponentialMovingAverage(link, decay=0.5)
    ema()
    ema()
    with ema.applied():
        assert link.w.dtype == dtype


@pytest.mark.parametrize("buffers", ["copy", "average"])
def test_persistent_values(buffers):
    link = L.BatchNormalization(2)
    ema = ExponentialMovingAverage(link, decay=0.5, buffers=buffers)
    count = []
    for value in (2, 6):
        link.avg_mean[...] = value
        link.N = value
        ema()
        count.append(link.N)
    link.avg_mean[...] = 8
    with ema.applied():
        np.testing.assert_array_equal(link.avg_mean, [4, 4] if buffers == "average" else [8, 8])
        assert link.N == 6
        link.avg_mean[...] = 100
        link.N = 100
    np.testing.assert_array_equal(link.avg_mean, [8, 8])
    assert link.N == 6


def test_evaluator(tmp_path):
    trainer = make_trainer(tmp_path, (2, "epoch"), normalized=True)
    model = trainer.updater.get_optimizer("main").target
    ema = ExponentialMovingAverage(model, decay=0.9)
    data = trainer.get_extension("validation").get_iterator("main").dataset
    iterator = chainer.iterators.SerialIterator(data, 10, repeat=False)
    trainer.extend(ema)
    trainer.extend(EMAEvaluator(iterator, model, ema))
    trainer.extend(extensions.LogReport())
    trainer.run()
    last = trainer.get_extension("LogReport").log[-1]
    assert last["ema_validation/main/loss"] != last["validation/main/loss"]
    trained = weights(trainer)
    ema.copy_to(model)
    averaged = extensions.Evaluator(iterator, model)()
    assert float(averaged["main/loss"]) == pytest.approx(last["ema_validation/main/loss"], rel=1e-6)
    assert any((trained[name] != value).any() for name, value in weights(trainer).items())


def test_the_training_is_not_changed(tmp_path):
    trainers = [make_trainer(tmp_path, normalized=True) for _ in range(2)]
    model = trainers[0].updater.get_optimizer("main").target
    ema = ExponentialMovingAverage(model, decay=0.9)
    data = trainers[0].get_extension("validation").get_iterator("main").dataset
    trainers[0].extend(ema)
    trainers[0].extend(
        EMAEvaluator(chainer.iterators.SerialIterator(data, 10, repeat=False), model, ema)
    )
    for trainer in trainers:
        trainer.run()
    assert_same_weights(*trainers)


@pytest.mark.parametrize("iteration", [1, 7])
def test_resumed_run_equals_an_uninterrupted_one(tmp_path, iteration):
    def make(stop):
        trainer = make_trainer(tmp_path, stop, normalized=True)
        model = trainer.updater.get_optimizer("main").target
        ema = ExponentialMovingAverage(model, 0.9, warmup=True, buffers="average")
        data = trainer.get_extension("validation").get_iterator("main").dataset
        iterator = chainer.iterators.SerialIterator(data, 10, repeat=False)
        trainer.extend(ema)
        trainer.extend(EMAEvaluator(iterator, model, ema))
        trainer.extend(extensions.LogReport(trigger=(5, "iteration")))
        return trainer

    whole = make((3, "epoch"))
    whole.run()
    first = make((iteration, "iteration"))
    first.run()
    chainer.serializers.save_npz(tmp_path / "snapshot", first)
    second = make((3, "epoch"))
    chainer.serializers.load_npz(tmp_path / "snapshot", second)
    second.run()
    assert_same_weights(second, whole)
    logs = [trainer.get_extension("LogReport").log for trainer in (second, whole)]
    assert_same_rows(*logs)


def test_loaded_arrays_are_its_own():
    link = link_of(1, 2)
    ema = ExponentialMovingAverage(link, decay=0.5)
    ema()
    saved = chainer.serializers.DictionarySerializer()
    saved.save(ema)
    loaded = ExponentialMovingAverage(link, decay=0.5)
    chainer.serializers.NpzDeserializer(saved.target).load(loaded)
    link.w.array[...] = 5
    loaded()
    with ema.applied():
        np.testing.assert_array_equal(link.w.array, [1, 2])
    with loaded.applied():
        np.testing.assert_array_equal(link.w.array, [3, 3.5])


def test_saved_before_the_first_update():
    saved = chainer.serializers.DictionarySerializer()
    saved.save(ExponentialMovingAverage(link_of(1, 2)))
    link = link_of(3, 4)
    ema = ExponentialMovingAverage(link)
    ema()
    chainer.serializers.NpzDeserializer(saved.target).load(ema)
    assert ema.n_updates == 0
    with ema.applied():
        np.testing.assert_array_equal(link.w.array, [3, 4])


def test_on_another_backend():
    pytest.importorskip("chainer_strict_backend", reason="needs the backend of Chainer's tests")
    model = Model(normalized=True)
    model(np.ones((2, 4), np.float32), np.zeros(2, np.int32))
    ema = ExponentialMovingAverage(model, decay=0.5, buffers="average")
    ema()
    saved = chainer.serializers.DictionarySerializer()
    saved.save(ema)
    model.to_device("@strict:0")
    ema()  # goes where the model has gone
    chainer.serializers.NpzDeserializer(saved.target).load(ema)
    ema()
    before = model.l1.W.array
    with ema.applied():
        assert model.l1.W.array is before
        assert type(before).__module__.startswith("chainer_strict_backend")
    with pytest.raises(ValueError, match="missing"):
        ema.copy_to(Model())


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"target": 3}, TypeError, "target must be a chainer.Link, got int"),
        ({"decay": 1}, ValueError, "decay must be from 0 up to, but less than, 1, got 1"),
        ({"buffers": "x"}, ValueError, "buffers must be 'average' or 'copy', got 'x'"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        ExponentialMovingAverage(**{"target": chainer.Link()} | options)


def test_an_evaluator_needs_averages():
    with pytest.raises(TypeError, match="ema must be an ExponentialMovingAverage, got float"):
        EMAEvaluator([], chainer.Link(), 0.9)
