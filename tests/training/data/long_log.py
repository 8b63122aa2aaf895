"""A training with a long log, for releases 4, 7 and this one.

``python long_log.py FOLDER STOP [SNAPSHOT]`` trains in ``FOLDER`` to an iteration, from the
beginning or from a snapshot, saves a snapshot of the trainer at the last iteration, and prints the
iterations of the entries of the log: before the training goes on, and at the end.
"""

import sys
import warnings

import numpy as np

import chainer
import chainer.links as L
from chainer import serializers, training
from chainer.training import extensions


def iterations(trainer):
    return [entry["iteration"] for entry in trainer.get_extension("LogReport").log]


def main(folder, stop, snapshot=None):
    x = np.arange(8, dtype=np.float32)[:, None]
    data = chainer.datasets.TupleDataset(x, 2 * x)
    model = L.Classifier(L.Linear(1, 1), chainer.functions.mean_squared_error)
    model.compute_accuracy = False
    optimizer = chainer.optimizers.SGD(0.001)
    optimizer.setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (int(stop), "iteration"), out=folder)
    trainer.extend(extensions.LogReport(trigger=(1, "iteration")))
    trainer.extend(
        extensions.PlotReport(["main/loss"], trigger=(1000, "epoch")), trigger=(1000, "epoch")
    )
    trainer.extend(
        extensions.snapshot(filename="snapshot_{.updater.iteration}"),
        trigger=(int(stop), "iteration"),
    )
    if snapshot is not None:
        serializers.load_npz(snapshot, trainer)
    print(iterations(trainer))
    trainer.run()
    print(iterations(trainer))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
