"""chainer-numba: updates of parameters and training steps on NumPy arrays"""

# Not named numba.py: programs of this folder import each other, and Numba is a package.
from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from bench_case import Case
from bench_chainer import fill, integers, random, training_step
from ptb import Stepwise, train

UNIT = "ms"
BASE = "ours-numba"
PEERS = ["ours-numba", "ours", "torch"]
THREADS = [1, 2]
BUDGETS = {
    "ours-numba/torch": {"": 1 / 1.2, "Adam 4000 x 72": 1.0, "MLP": 1 / 1.1, "language model": 1.0},
    "ours-numba/ours": {"": 1.0},
}

#: Layers of 1.8 and 25 million parameters.
SIZES = {"1.8M": (784, 1000, 1000, 10), "25M": (2048, 3072, 3072, 3072)}


def update_with(name, sizes, **arguments):
    def prepare():
        layers = [L.Linear(n, m) for n, m in zip(sizes, sizes[1:])]
        return _updates(fill(chainer.ChainList(*layers)), name, arguments)

    return prepare


def many_parameters(name):
    def prepare():
        model = chainer.Link()
        with model.init_scope():
            for n in range(4000):
                setattr(model, "p{}".format(n), chainer.Parameter(random(72, seed=n)))
        return _updates(model, name, {})

    return prepare


def _updates(model, name, arguments):
    optimizer = getattr(chainer.optimizers, name)(**arguments).setup(model)
    for n, parameter in enumerate(model.params()):
        parameter.grad = random(*parameter.shape, seed=n) * np.float32(0.01)
    return Case([("", optimizer.update)])


class MLP(chainer.ChainList):
    def __init__(self):
        super().__init__(L.Linear(784, 1000), L.Linear(1000, 1000), L.Linear(1000, 10))

    def __call__(self, x, t):
        h = F.relu(self[0](x))
        h = F.relu(self[1](h))
        return F.softmax_cross_entropy(self[2](h), t)


def mlp():
    batch = random(100, 784), integers(10, 100)
    return training_step(fill(MLP()), chainer.optimizers.Adam(), *batch)


CASES = {}
for _size, _layers in SIZES.items():
    CASES["Adam " + _size] = update_with("Adam", _layers)
    CASES["AdamW " + _size] = update_with("AdamW", _layers, weight_decay_rate=0.01)
    CASES["SGD " + _size] = update_with("SGD", _layers)
    CASES["MomentumSGD " + _size] = update_with("MomentumSGD", _layers)
CASES["Adam 4000 x 72"] = many_parameters("Adam")
CASES["MLP 784-1000-1000-10 step"] = mlp
CASES["language model step"] = train(Stepwise)
