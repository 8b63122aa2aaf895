"""Models, rules and helpers of the tests of optimizers."""

from __future__ import annotations

import numpy as np

from chainer.core.autograd.parameter import Parameter
from chainer.links.chain import Chain
from chainer.links.link import Link
from chainer.links.serializers.npz import DictionarySerializer
from chainer.training.optimizers.optimizer import GradientMethod, HyperparameterProxy, UpdateRule


class Pair(Chain):
    """Two parameters in the hierarchy, the second of which is not initialized yet."""

    def __init__(self, lazy=False):
        super().__init__()
        with self.init_scope():
            self.W = Parameter(np.array([1, 2], np.float32))
            self.child = Link()
            with self.child.init_scope():
                self.child.b = Parameter(0) if lazy else Parameter(np.array([3], np.float32))


def set_grads(model, value=1.0):
    for param in model.params(include_uninit=False):
        param.grad = np.full_like(param.array, value)


def save(obj):
    target = {}
    DictionarySerializer(target).save(obj)
    return {key: np.array(value) for key, value in target.items()}


class Scale(UpdateRule):
    """A rule with a state, that multiplies by a hyperparameter."""

    def init_state(self, param):
        self.state["sum"] = np.zeros_like(param.array)

    def update_core_cpu(self, param):
        grad = param.grad
        if grad is None:
            return
        self.state["sum"] += grad
        param.array -= self.hyperparam.lr * self.state["sum"]


class ScaleMethod(GradientMethod):
    lr = HyperparameterProxy("lr")

    def __init__(self, lr=0.5):
        super().__init__()
        self.hyperparam.lr = lr

    def create_update_rule(self):
        return Scale(self.hyperparam)
