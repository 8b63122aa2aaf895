"""A training small enough for tests."""

from __future__ import annotations

import numpy as np

from chainer import functions as F
from chainer.core.autograd.parameter import Parameter
from chainer.core.reporting.reporter import report
from chainer.links.link import Link
from chainer.training import optimizers
from chainer.training.datasets.tuple_dataset import TupleDataset
from chainer.training.iterators.serial_iterator import SerialIterator
from chainer.training.trainer import Trainer
from chainer.training.updaters.standard_updater import StandardUpdater


class Regression(Link):
    """Weights of three inputs; the loss is a sum of squares."""

    def __init__(self, lazy=False):
        super().__init__()
        with self.init_scope():
            self.W = Parameter(0) if lazy else Parameter(np.ones(3, np.float32))

    def forward(self, x, t):
        if not self.W.is_initialized:
            self.W.initialize((x.shape[1],))
        W = F.broadcast_to(self.W, x.shape)
        loss = F.sum((F.sum(W * x, axis=1) - t) ** 2)
        report({"loss": loss}, self)
        return loss


def make_dataset(size=10):
    random = np.random.RandomState(0)
    x = random.rand(size, 3).astype(np.float32)
    return TupleDataset(x, x @ np.array([1, -2, 0.5], np.float32))


def make_trainer(
    out, stop=(2, "epoch"), *, size=10, batch=4, shuffle=False, optimizer=None, lazy=False
):
    model = Regression(lazy)
    optimizer = (optimizer or optimizers.SGD(0.01)).setup(model)
    iterator = SerialIterator(make_dataset(size), batch, shuffle=shuffle)
    return Trainer(StandardUpdater(iterator, optimizer), stop, out=str(out))


def weights_of(trainer):
    return trainer.updater.get_optimizer("main").target.W.array


class FakeUpdater:
    """Counts iterations over ten examples."""

    def __init__(self, batch=1):
        self.iteration = 0
        self._batch = batch

    @property
    def epoch(self):
        return int(self.epoch_detail)

    @property
    def epoch_detail(self):
        return self.iteration * self._batch / 10

    @property
    def previous_epoch_detail(self):
        return (self.iteration - 1) * self._batch / 10 if self.iteration else None

    @property
    def is_new_epoch(self):
        return int(self.epoch_detail) != int(self.previous_epoch_detail or 0)

    def update(self):
        self.iteration += 1

    def get_all_optimizers(self):
        return {}

    def connect_trainer(self, trainer):
        pass

    def finalize(self):
        pass

    def serialize(self, serializer):
        self.iteration = serializer("iteration", self.iteration)
