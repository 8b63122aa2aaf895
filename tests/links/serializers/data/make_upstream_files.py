"""Writes files with an earlier release of Chainer (4.3.1 or 7.8.1), to be loaded by the tests here.

Run in an environment of that release: python make_upstream_files.py DIRECTORY
"""

import os
import sys

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, serializers, training
from chainer.training import extensions


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, 3)
            self.bn = L.BatchNormalization(3)
            self.l2 = L.Linear(3, 2)
        self.add_persistent("note", "remember")
        self.add_persistent("nothing", None)
        self.add_persistent("scale", 2.5)

    def __call__(self, x):
        return self.l2(F.relu(self.bn(self.l1(x))))


def main(directory):
    os.chdir(directory)
    np.random.seed(0)
    model = MLP()
    serializers.save_npz("lazy_model.npz", model)
    model.note = None  # HDF5 files of these releases cannot hold strings
    serializers.save_hdf5("lazy_model.h5", model)
    model.note = "remember"
    x = np.random.rand(10, 4).astype("f")
    t = (np.arange(10) % 2).astype("i")
    dataset = chainer.datasets.TupleDataset(x, t)
    classifier = L.Classifier(model)
    optimizer = optimizers.Adam()
    optimizer.setup(classifier)
    iterator = iterators.SerialIterator(dataset, 3)
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (2, "epoch"), out=".")
    test = iterators.SerialIterator(dataset, 5, repeat=False, shuffle=False)
    trainer.extend(extensions.Evaluator(test, classifier))
    trainer.extend(
        extensions.LogReport(trigger=(1, "epoch"), filename=None)
        if chainer.__version__[0] > "4"
        else extensions.LogReport(trigger=(1, "epoch"))
    )
    trainer.extend(extensions.ExponentialShift("alpha", 0.5), trigger=(3, "iteration"))
    trainer.run()
    updater.update()  # leaves the iterator in the middle of an epoch
    serializers.save_npz("trainer.npz", trainer)
    serializers.save_npz("model.npz", model)
    serializers.save_npz("adam.npz", optimizer)
    serializers.save_npz("serial_iterator.npz", iterator)
    threads = iterators.MultithreadIterator(dataset, 3, n_threads=2)
    for _ in range(5):
        threads.next()
    serializers.save_npz("multithread_iterator.npz", threads)
    threads.finalize()
    with open("expected.npz", "wb") as f:
        with chainer.using_config("train", False):
            y = model(x).array
        np.savez(
            f,
            x=x,
            y=y,
            next=[e[1] for e in iterator.next()],
            order=iterator_order(serializers, iterator),
        )
    for leftover in ("log",):
        if os.path.exists(leftover):
            os.remove(leftover)


def iterator_order(serializers, iterator):
    target = {}
    serializers.DictionarySerializer(target).save(iterator)
    return target["order"]


main(sys.argv[1])
