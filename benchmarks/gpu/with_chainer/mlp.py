"""Multi-layer perceptrons: training step with Adam"""

from __future__ import annotations

from ours_on_gpu import integers, pick, random, training_step

import chainer
import chainer.functions as F
import chainer.links as L

UNIT = "us"
PER_CALL = pick(20, 2)
BUDGETS = {"torch": 1.5}


class MLP(chainer.Chain):
    def __init__(self, width):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(784, width)
            self.l2 = L.Linear(width, width)
            self.l3 = L.Linear(width, 10)

    def forward(self, x, t):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return F.softmax_cross_entropy(self.l3(h), t)


def case(width, size):
    def prepare():
        batch = random(size, 784), integers(10, size)
        return training_step(MLP(width), chainer.optimizers.Adam(), batch, PER_CALL)

    return prepare


CASES = {
    "50 units, batch 32": case(50, 32),
    "1000 units, batch 256": case(pick(1000, 20), pick(256, 8)),
}
