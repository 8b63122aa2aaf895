"""64-channel CNN (3x3 convolutions, BN, relu, pooling) on 32x32 images, batch 64"""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
from bench_chainer import fill, integers, random, training_step

UNIT = "ms"
BUDGETS = {"upstream": 1.0}


class Block(chainer.Chain):
    def __init__(self, inputs, outputs):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(inputs, outputs, 3, pad=1, nobias=True)
            self.bn = L.BatchNormalization(outputs)

    def __call__(self, x):
        return F.max_pooling_2d(F.relu(self.bn(self.conv(x))), 2)


class CNN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.block1 = Block(3, 64)
            self.block2 = Block(64, 64)
            self.block3 = Block(64, 64)
            self.fc = L.Linear(64 * 4 * 4, 10)

    def __call__(self, x, t):
        h = self.block3(self.block2(self.block1(x)))
        return F.softmax_cross_entropy(self.fc(h), t)


def train():
    return training_step(
        fill(CNN()), chainer.optimizers.MomentumSGD(), random(64, 3, 32, 32), integers(10, 64)
    )


def predict():
    model = fill(CNN())
    x, t = random(64, 3, 32, 32), integers(10, 64)

    def step():
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            model(x, t)

    return step


CASES = {"training step": train, "inference": predict}
