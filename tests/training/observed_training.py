"""A training small enough for tests, that can be taken up again."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.training import extensions


class Model(chainer.Chain):
    """Classifier with two layers, batch normalization if wanted, and a lazy size."""

    def __init__(self, normalized=False):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, 8)
            self.l2 = L.Linear(8, 3)
            if normalized:
                self.bn = L.BatchNormalization(8)

    def forward(self, x, t):
        h = self.l1(x)
        if "bn" in self.__dict__:
            h = self.bn(h)
        y = self.l2(F.tanh(h))
        loss = F.softmax_cross_entropy(y, t)
        chainer.report({"loss": loss, "accuracy": F.accuracy(y, t)}, self)
        return loss


def make_dataset(size=30, dtype=np.float32):
    random = np.random.RandomState(1)
    x = random.randn(size, 4).astype(dtype)
    return chainer.datasets.TupleDataset(x, (x[:, :3].argmax(axis=1)).astype(np.int32))


def make_trainer(out, stop=(3, "epoch"), *, batch=6, optimizer=None, size=30, **options):
    """Makes a trainer with an evaluator; the same one each time."""
    state = np.random.get_state()
    np.random.seed(0)
    model = Model(**options)
    optimizer = (optimizer or chainer.optimizers.MomentumSGD(0.1)).setup(model)
    model.l1.W.initialize((8, 4))
    np.random.set_state(state)
    # A generator of its own: trainings that run in turn have the same orders.
    order = chainer.iterators.ShuffleOrderSampler(np.random.RandomState(0))
    iterator = chainer.iterators.SerialIterator(make_dataset(size), batch, order_sampler=order)
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer), stop, out=str(out))
    evaluation = chainer.iterators.SerialIterator(make_dataset(20), 10, repeat=False)
    trainer.extend(extensions.Evaluator(evaluation, model))
    return trainer


def weights(trainer):
    model = trainer.updater.get_optimizer("main").target
    return {name: param.array.copy() for name, param in model.namedparams()}


def assert_same_weights(actual, expected):
    """Compares two trainers; sums may differ in the last digit, depending on where arrays lie."""
    expected = weights(expected)
    assert expected.keys() == weights(actual).keys()
    for name, value in weights(actual).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-5, atol=1e-7, err_msg=name)


def assert_same_rows(actual, expected):
    """Compares the entries of logs, but for the times."""
    assert len(actual) == len(expected)
    for row, other in zip(actual, expected, strict=True):
        assert list(row) == list(other)
        for key in row.keys() - {"elapsed_time"}:
            assert row[key] == pytest.approx(other[key], rel=1e-5, abs=1e-7), key


class Observations:
    """Reports given values of a metric, one an iteration."""

    def __init__(self, values, key="metric"):
        self.values = values
        self.key = key

    def __call__(self, trainer):
        chainer.report({self.key: self.values[trainer.updater.iteration - 1]})


class FakeUpdater(training.Updater):
    """Counts iterations; an epoch has ten."""

    def __init__(self):
        self.iteration = 0

    @property
    def epoch(self):
        return self.iteration // 10

    @property
    def epoch_detail(self):
        return self.iteration / 10

    @property
    def previous_epoch_detail(self):
        return (self.iteration - 1) / 10 if self.iteration else None

    is_new_epoch = property(lambda self: self.iteration % 10 == 0)

    def update(self):
        self.iteration += 1

    def get_all_optimizers(self):
        return {}

    def finalize(self):
        pass

    def serialize(self, serializer):
        self.iteration = int(serializer("iteration", self.iteration))


def observing(out, values, *extras, stop=None, key="metric"):
    """Makes a trainer that observes given values, with further extensions."""
    trainer = training.Trainer(
        FakeUpdater(), (len(values) if stop is None else stop, "iteration"), out=str(out)
    )
    trainer.extend(Observations(values, key), name="observations", priority=400)
    for extension in extras:
        trainer.extend(extension)
    return trainer


def in_thread(function):
    """Calls a function in another thread; returns what it raised."""
    raised = []

    def target():
        try:
            function()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=target, name="worker")
    thread.start()
    thread.join()
    return raised[0] if raised else None
