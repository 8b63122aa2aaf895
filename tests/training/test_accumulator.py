"""``chainer.training.Accumulator``."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import chainer
from chainer import training
from chainer.core.reporting.summary import to_float
from chainer.serializers import DictionarySerializer, NpzDeserializer


class Trainer(SimpleNamespace):
    """What an accumulator asks a trainer for."""

    stop_reason = None
    is_before_training = False


def every_third(trainer):
    return trainer.iteration % 3 == 0


def observe(accumulator, iteration, **values):
    return accumulator.add(Trainer(iteration=iteration, observation=values))


def test_means_over_intervals():
    accumulator = training.Accumulator(every_third)
    assert observe(accumulator, 1, a=1.0) is None
    assert observe(accumulator, 2, a=np.float32(2), b=4) is None
    assert observe(accumulator, 3, a=chainer.Variable(np.array(6.0))) == {"a": 3.0, "b": 4.0}
    assert observe(accumulator, 6, a=5.0) == {"a": 5.0}


def test_call_before_training():
    asked = []
    accumulator = training.Accumulator(asked.append)
    trainer = Trainer(observation={"a": 2.0}, is_before_training=True)
    assert accumulator.add(trainer) == {"a": 2.0}
    assert asked == []
    assert observe(accumulator, 1, a=5.0) is None


def test_file_without_the_values():
    accumulator = training.Accumulator(every_third)
    with pytest.warns(UserWarning, match="no values that were accumulated|are not saved"):
        NpzDeserializer({}).load(accumulator)


def test_keys():
    accumulator = training.Accumulator(every_third, ["a", "c"])
    assert observe(accumulator, 3, a=1.0, b=2.0) == {"a": 1.0}


@pytest.mark.parametrize("also", [False, True])
def test_trainings_that_are_stopped(also):
    accumulator = training.Accumulator(every_third)
    trainer = Trainer(iteration=1, observation={"a": 2.0}, stop_reason="no progress")
    assert accumulator.add(trainer, also_when_stopped=also) == ({"a": 2.0} if also else None)


def test_serialization():
    accumulator = training.Accumulator(every_third)
    observe(accumulator, 1, a=1.0)
    saved = DictionarySerializer()
    accumulator.serialize(saved)
    resumed = training.Accumulator(every_third)
    resumed.serialize(NpzDeserializer(saved.target))
    assert observe(resumed, 3, a=3.0) == {"a": 2.0}


@pytest.mark.parametrize(
    "value", [2, 2.0, np.float16(2), np.array(2.0), chainer.Variable(np.array(2, "f"))]
)
def test_to_float(value):
    assert type(to_float(value)) is float
    assert to_float(value) == 2.0
