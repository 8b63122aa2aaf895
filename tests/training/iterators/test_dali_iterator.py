"""DaliIterator with a pipeline that needs no DALI. Numbers were computed with release 7.8.1."""

import numpy as np
import pytest

import chainer
from chainer import serializers
from chainer.iterators import DaliIterator


class Pipeline:
    batch_size = 2

    def __init__(self):
        self.log = []

    def build(self):
        self.log.append("build")

    def epoch_size(self):
        return {"reader": 3}

    def run(self):
        self.log.append("run")
        return ("images", len(self.log))


@pytest.fixture(autouse=True)
def no_experimental_warning(monkeypatch):
    monkeypatch.setattr(chainer, "disable_experimental_feature_warning", True)


def state(iterator):
    return (
        iterator.current_position,
        iterator.epoch,
        iterator.is_new_epoch,
        iterator.epoch_detail,
        iterator.previous_epoch_detail,
    )


def test_epochs():
    pipeline = Pipeline()
    iterator = DaliIterator(pipeline)
    assert (iterator.epoch_size, iterator.batch_size, iterator.repeat) == (1, 2, True)
    assert state(iterator) == (0, 0, False, 0.0, None)
    assert pipeline.log == []
    assert iterator.next() == ("images", 2)
    assert (iterator.epoch_size, pipeline.log) == (3, ["build", "run"])
    assert state(iterator) == (2, 0, False, pytest.approx(2 / 3), 0.0)
    iterator.next()
    assert state(iterator) == (1, 1, True, pytest.approx(4 / 3), pytest.approx(2 / 3))
    next(iterator)
    assert state(iterator) == (0, 2, True, 2.0, pytest.approx(4 / 3))
    assert pipeline.log == ["build", "run", "run", "run"]


def test_one_epoch_only():
    iterator = DaliIterator(Pipeline(), repeat=False)
    assert len(list(iterator)) == 2
    assert state(iterator) == (0, 1, True, 1.0, pytest.approx(2 / 3))
    iterator.reset()
    assert state(iterator) == (0, 0, False, 0.0, None)
    assert len(list(iterator)) == 2


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_serialization(batches):
    iterator = DaliIterator(Pipeline())
    for _ in range(batches):
        iterator.next()
    target = {}
    serializers.DictionarySerializer(target).save(iterator)
    assert set(target) == {"current_position", "epoch", "is_new_epoch", "previous_epoch_detail"}
    other = DaliIterator(Pipeline())
    other.next()
    serializers.NpzDeserializer({k: np.array(v) for k, v in target.items()}).load(other)
    assert state(other)[:3] == state(iterator)[:3]
    assert other.previous_epoch_detail == iterator.previous_epoch_detail


def test_missing_previous_epoch_detail_is_computed():
    target = {"current_position": 1, "epoch": 4, "is_new_epoch": True}
    iterator = DaliIterator(Pipeline())
    iterator.next()
    serializers.NpzDeserializer({k: np.array(v) for k, v in target.items()}).load(iterator)
    assert iterator.previous_epoch_detail == pytest.approx(11 / 3)


def test_it_is_experimental(monkeypatch):
    monkeypatch.setattr(chainer, "disable_experimental_feature_warning", False)
    with pytest.warns(FutureWarning, match="DaliIterator"):
        DaliIterator(Pipeline())
