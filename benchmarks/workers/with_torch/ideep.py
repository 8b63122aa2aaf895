"""iDeep: CNN and LeNet5 training step, VGG16 and ResNet50 forward and backward, PTB language model"""

from __future__ import annotations

import cnn
import convnets
import ptb
from bench_case import Case
from bench_torch import integers, random
from torch import nn

UNIT = "ms"


def gradients(network, classes):
    """A forward and a backward pass on 8 images of 64x64, without an update."""

    def prepare():
        model, loss = network(classes), nn.CrossEntropyLoss()
        x, t = random(8, 3, 64, 64), integers(classes, 8)

        def step():
            model.zero_grad(set_to_none=True)
            loss(model(x), t).backward()

        return Case([("", step)])

    return prepare


CASES = {
    "CNN step": cnn.CASES["training step"],
    "LeNet5 step": convnets.CASES["LeNet5"],
    "VGG16": gradients(convnets.vgg16, 10),
    "ResNet50": gradients(convnets.resnet50, 100),
    "language model, NStepLSTM": ptb.CASES["NStepLSTM"],
    "language model, LSTM step by step": ptb.CASES["stepwise LSTM"],
}
