"""Multi-layer perceptron 784-50-50-10: training step with Adam"""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
from bench_chainer import fill, integers, random, training_step

UNIT = "us"
BUDGETS = {"torch": 1.0}


class MLP(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(784, 50)
            self.l2 = L.Linear(50, 50)
            self.l3 = L.Linear(50, 10)

    def __call__(self, x, t):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return F.softmax_cross_entropy(self.l3(h), t)


def batch(size):
    def prepare():
        return training_step(
            fill(MLP()), chainer.optimizers.Adam(), random(size, 784), integers(10, size)
        )

    return prepare


CASES = {"batch 32": batch(32), "batch 100": batch(100)}
# The same steps, against the best setting of PyTorch.
for _name in list(CASES):
    CASES[_name + " fused"] = CASES[_name]
