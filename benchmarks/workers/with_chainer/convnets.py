"""Training step of LeNet5 (28x28, batch 64), VGG16 and ResNet50 (64x64, batch 8)"""

from __future__ import annotations

import chainer
from bench_chainer import fill, integers, random, training_step
from nets import VGG16, LeNet5, ResNet50

UNIT = "ms"
BUDGETS = {"upstream": 1.0}


def train(network, classes, *shape):
    def prepare():
        model = network(classes)
        x, t = random(*shape), integers(classes, shape[0])
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            model(x, t)  # sets the sizes that depend on the input
        return training_step(fill(model), chainer.optimizers.MomentumSGD(1e-4), x, t)

    return prepare


CASES = {
    "LeNet5": train(LeNet5, 10, 64, 1, 28, 28),
    "VGG16": train(VGG16, 10, 8, 3, 64, 64),
    "ResNet50": train(ResNet50, 100, 8, 3, 64, 64),
}
