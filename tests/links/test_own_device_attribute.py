"""Links of programs for release 4, where ``device`` is an attribute like any other."""

import copy
import pickle

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import training
from chainer.core.arrays.device_resident import device_of


class Model(chainer.Chain):
    def __init__(self, device=-1):
        super().__init__()
        self.device = device
        with self.init_scope():
            self.norm = L.BatchNormalization(3)
            self.rnn = L.LSTM(3, 2)

    def __call__(self, x):
        return F.sum(self.rnn(self.norm(x)))


def test_the_attribute_is_that_of_the_program():
    model = Model()
    assert model.device == -1
    assert copy.deepcopy(model).device == -1
    assert pickle.loads(pickle.dumps(model)).device == -1
    model.device = 3
    assert model.device == 3
    assert model.xp is np
    assert device_of(model) == chainer.get_device("@numpy")
    assert model.norm.device == chainer.get_device("@numpy")


def test_such_a_model_moves():
    strict_device = chainer.get_device("@strict:1")
    model = Model().to_device(strict_device)
    assert model.device == -1
    assert device_of(model) == strict_device == model.norm.device
    assert model.xp is strict_device.xp


def test_such_a_model_is_trained(tmp_path):
    model = Model()
    iterator = chainer.iterators.SerialIterator(np.ones((8, 3), "f"), 4)
    optimizer = chainer.optimizers.SGD().setup(model)
    updater = training.StandardUpdater(iterator, optimizer, device=-1)
    before = model.rnn.upward.W.array.copy()
    training.Trainer(updater, (3, "iteration"), out=tmp_path).run()
    assert (model.rnn.upward.W.array != before).any()
    with chainer.link_hooks.TimerHook() as hook:
        model(np.ones((4, 3), "f"))
    assert len(hook.call_history) == 4
