"""iDeep: CNN and LeNet5 training step, VGG16 and ResNet50 forward and backward, PTB language model"""

from __future__ import annotations

import chainer
import cnn
import convnets
import ptb
from bench_case import Case
from bench_chainer import fill, integers, random
from nets import VGG16, ResNet50

UNIT = "ms"
BASE = "ours-ideep"
THREADS = (1, 2)
BUDGETS = {
    "ours-ideep/upstream-ideep": 1.0,
    "ours-ideep/torch": {"": 1 / 1.3, "language model": 1.0},
}
MEAN_BUDGETS = {"ours-ideep/upstream-ideep": 1 / 1.3}


def gradients(network, classes):
    """A forward and a backward pass on 8 images of 64x64, without an update."""

    def prepare():
        model = network(classes)
        x, t = random(8, 3, 64, 64), integers(classes, 8)
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            model(x, t)  # sets the sizes that depend on the input
        fill(model)
        last = []

        def step():
            loss = model(x, t)
            model.cleargrads()
            loss.backward()
            last[:] = [loss.array]

        return Case([("", step)], lambda: [float(last[0])])

    return prepare


CASES = {
    "CNN step": cnn.CASES["training step"],
    "LeNet5 step": convnets.CASES["LeNet5"],
    "VGG16": gradients(VGG16, 10),
    "ResNet50": gradients(ResNet50, 100),
    "language model, NStepLSTM": ptb.CASES["NStepLSTM"],
    "language model, LSTM step by step": ptb.CASES["stepwise LSTM"],
}
