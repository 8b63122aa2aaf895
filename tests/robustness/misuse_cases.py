"""The table of mistakes, and the programs that make them."""

import numpy as np
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import iterators, optimizers, training

X = np.ones((4, 3), "f")
T = np.array([0, 1, 2, 0], "i")
WRONG = np.array([0, 1, 5, 0], "i")
CASES = []


def case(kind, phrase):
    def add(function):
        CASES.append(pytest.param(function, kind, phrase, id=function.__name__))
        return function

    return add


def steps(model, lossfun, count=1, clear=True, backward=True):
    optimizer = optimizers.SGD().setup(model)
    for _ in range(count):
        if clear:
            model.cleargrads()
        loss = lossfun()
        if backward:
            loss.backward()
        optimizer.update()


def trainer(out, repeat=True):
    model = L.Classifier(L.Linear(3, 3))
    optimizer = optimizers.SGD().setup(model)
    data = chainer.datasets.TupleDataset(X, T)
    iterator = iterators.SerialIterator(data, 2, repeat=repeat)
    updater = training.StandardUpdater(iterator, optimizer)
    return training.Trainer(updater, (2, "epoch"), out=out)


IMAGES = np.ones((2, 3, 8, 8), "f")
InvalidType = chainer.utils.type_check.InvalidType


class WithLoss(chainer.Chain):
    """A model that returns the loss as a program wrote it."""

    def __init__(self, result):
        super().__init__()
        self.result = result
        with self.init_scope():
            self.l = L.Linear(3, 3)

    def forward(self, x, t):
        return self.result(F.softmax_cross_entropy(self.l(x), t, reduce="no"))


def run(out, model=None, data=None):
    model = L.Classifier(L.Linear(3, 3)) if model is None else model
    data = chainer.datasets.TupleDataset(X, T) if data is None else data
    optimizer = optimizers.SGD().setup(model)
    updater = training.StandardUpdater(iterators.SerialIterator(data, 2), optimizer)
    training.Trainer(updater, (1, "epoch"), out=out).run(show_loop_exception_msg=False)


def saved(out, obj):
    chainer.serializers.save_npz(out / "m.npz", obj)
    return out / "m.npz"


def row(name, kind, phrase, call):
    call.__name__ = name
    CASES.append(pytest.param(call, kind, phrase, id=name))


def unfinished(out=None):
    class Model(chainer.Chain):
        def __init__(self):
            self.l = L.Linear(3, 3)

    return Model()


def without(*_):
    return None
