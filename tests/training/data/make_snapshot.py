"""Makes snapshots of a training with an upstream release of Chainer, run as a black box.

Usage, with the interpreter of an environment that has that release::

    python tests/training/data/make_snapshot.py
    python tests/training/data/make_snapshot.py resume FILE

The first writes ``v<release>.npz``, a snapshot after two epochs, and ``v<release>.json``, log and
weights after four. The second goes on from a snapshot after two epochs and prints the same. The
training is the one of ``test_upstream_snapshots.py``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile

import numpy as np

import chainer
import chainer.functions as F
from chainer import optimizers, training
from chainer.training import extensions as E
from chainer.training import triggers

HERE = os.path.dirname(os.path.abspath(__file__))


class Regression(chainer.Link):
    """Weights of three inputs; the loss is a sum of squares."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.W = chainer.Parameter(np.ones(3, np.float32))

    def __call__(self, x, t):
        W = F.broadcast_to(self.W, x.shape)
        error = F.sum(W * x, axis=1) - t
        loss = F.sum(error * error)
        chainer.report({"loss": loss, "n": len(x)}, self)
        return loss


def make_trainer(out, stop):
    """Makes the training; every release has what it uses."""
    random = np.random.RandomState(0)
    x = random.rand(10, 3).astype(np.float32)
    dataset = chainer.datasets.TupleDataset(x, x.dot(np.array([1, -2, 0.5], np.float32)))
    model = Regression()
    optimizer = optimizers.Adam(0.1)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(dataset, 4, shuffle=False)
    validation = chainer.iterators.SerialIterator(dataset, 4, repeat=False, shuffle=False)
    trainer = training.Trainer(training.StandardUpdater(iterator, optimizer), stop, out=out)
    trainer.extend(E.Evaluator(validation, model))
    trainer.extend(E.observe_lr())
    trainer.extend(E.LogReport())
    trainer.extend(E.LogReport(trigger=(2, "iteration"), log_name="log2"))
    trainer.extend(E.PrintReport(["epoch"], log_report=E.LogReport(log_name=None)))
    trainer.extend(E.ExponentialShift("alpha", 0.5), trigger=(1, "epoch"))
    trainer.extend(E.LinearShift("beta1", (0.9, 0.5), (2, 8)))
    trainer.extend(E.MicroAverage("main/n", "main/n", "ratio", trigger=(2, "iteration")))
    trainer.extend(E.ParameterStatistics(model, trigger=(2, "iteration")))
    trainer.extend(E.FailOnNonNumber())
    trainer.extend(E.dump_graph("main/loss"))
    trainer.extend(lambda t: None, name="max", trigger=triggers.MaxValueTrigger("main/loss"))
    manual = triggers.ManualScheduleTrigger([1, 3], "epoch")
    trainer.extend(lambda t: None, name="manual", trigger=manual)
    trainer.extend(lambda t: None, name="time", trigger=triggers.TimeTrigger(60))
    trainer.extend(E.snapshot(filename="snapshot"), trigger=(2, "epoch"))
    trainer.extend(E.snapshot_object(model, "model"), trigger=(2, "epoch"))
    return trainer


def result(trainer):
    """Returns what a training has come to."""
    logs = [trainer.get_extension(name).log for name in ("LogReport", "LogReport_1")]
    return {"logs": logs, "weights": trainer.updater.get_optimizer("main").target.W.array.tolist()}


def resume(snapshot, out):
    """Goes on from a snapshot after two epochs; prints the result in the last line."""
    trainer = make_trainer(out, (4, "epoch"))
    chainer.serializers.load_npz(snapshot, trainer)
    trainer.run()
    print(json.dumps(result(trainer)))


def make(out):
    """Makes the files."""
    name = os.path.join(HERE, "v" + chainer.__version__)
    make_trainer(out, (2, "epoch")).run()
    shutil.copy(os.path.join(out, "snapshot"), name + ".npz")
    trainer = make_trainer(out, (4, "epoch"))
    trainer.run()
    with open(name + ".json", "w") as file:
        json.dump(result(trainer), file)


if __name__ == "__main__":
    directory = tempfile.mkdtemp()
    try:
        if len(sys.argv) == 3 and sys.argv[1] == "resume":
            resume(sys.argv[2], directory)
        else:
            make(directory)
    finally:
        shutil.rmtree(directory)
