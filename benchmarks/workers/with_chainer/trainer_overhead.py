"""A step of a bare loop, and of a Trainer with LogReport, Evaluator and PrintReport, us a step

The step takes about a millisecond. An epoch has a hundred steps, after which ten batches are
evaluated; the bare loop evaluates them, too. Steps are counted from the third epoch on: files are
open then.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from bench_case import Case
from chainer import iterators, optimizers, training
from chainer.training import extensions

UNIT = "us"
MEASURED = True
BATCH_SIZE = 100
EPOCH = 100
FIRST = 2 * EPOCH + 1
STEPS = 800
ROW_BUDGETS = [["trainer", "bare loop", 1.05]]


class Net(chainer.Chain):
    """Three layers."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = L.Linear(100, 200)
            self.b = L.Linear(200, 200)
            self.c = L.Linear(200, 10)

    def __call__(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


class Clock(iterators.SerialIterator):
    """Notes the time of the batches between which is measured."""

    def start(self):
        self._count = 0
        self._times = []
        return self

    def __next__(self):
        self._count += 1
        if self._count in (FIRST, FIRST + STEPS):
            self._times.append(time.perf_counter())
        return super().__next__()

    next = __next__

    def seconds(self):
        """Returns the time of a step."""
        first, last = self._times
        return (last - first) / STEPS


def parts():
    """Returns model, optimizer and two iterators."""
    random = np.random.RandomState(0)
    x = random.rand(BATCH_SIZE * EPOCH, 100).astype(np.float32)
    t = random.randint(0, 10, len(x)).astype(np.int32)
    examples = chainer.datasets.TupleDataset(x, t)
    evaluated = chainer.datasets.TupleDataset(x[: BATCH_SIZE * 10], t[: BATCH_SIZE * 10])
    model = L.Classifier(Net())
    optimizer = optimizers.SGD(0.01)
    optimizer.setup(model)
    validation = iterators.SerialIterator(evaluated, BATCH_SIZE, repeat=False, shuffle=False)
    return model, optimizer, Clock(examples, BATCH_SIZE).start(), validation


def bare_loop():
    model, optimizer, iterator, validation = parts()
    for _ in range(FIRST + STEPS):
        x, t = chainer.dataset.concat_examples(iterator.next())
        optimizer.update(model, x, t)
        if iterator.is_new_epoch:
            validation.reset()
            with chainer.using_config("train", False), chainer.no_backprop_mode():
                for batch in validation:
                    model(*chainer.dataset.concat_examples(batch))
    return iterator.seconds()


def with_trainer():
    model, optimizer, iterator, validation = parts()
    out = tempfile.mkdtemp()
    printed = open(os.devnull, "w")
    try:
        updater = training.StandardUpdater(iterator, optimizer)
        trainer = training.Trainer(updater, (FIRST + STEPS, "iteration"), out=out)
        trainer.extend(extensions.Evaluator(validation, model))
        trainer.extend(extensions.LogReport())
        entries = ["epoch", "main/loss", "validation/main/loss", "main/accuracy", "elapsed_time"]
        trainer.extend(extensions.PrintReport(entries, out=printed))
        trainer.run()
    finally:
        printed.close()
        shutil.rmtree(out)
    return iterator.seconds()


def prepare():
    def measured(loop):
        return lambda *_: loop()

    return Case([("bare loop", measured(bare_loop)), ("trainer", measured(with_trainer))])


CASES = {"": prepare}
