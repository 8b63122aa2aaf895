"""64-channel CNN (3x3 convolutions, BN, relu, pooling) on 32x32 images, batch 64"""

from __future__ import annotations

import torch
from bench_torch import integers, random, training_step
from torch import nn

UNIT = "ms"


def _block(inputs, outputs):
    return [
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
        nn.MaxPool2d(2),
    ]


def _model():
    return nn.Sequential(
        *_block(3, 64), *_block(64, 64), *_block(64, 64), nn.Flatten(), nn.Linear(64 * 4 * 4, 10)
    )


def train():
    model, loss = _model(), nn.CrossEntropyLoss()
    x, t = random(64, 3, 32, 32), integers(10, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return training_step(model, optimizer, lambda: loss(model(x), t))


def predict():
    model, loss = _model().eval(), nn.CrossEntropyLoss()
    x, t = random(64, 3, 32, 32), integers(10, 64)

    def step():
        with torch.no_grad():
            loss(model(x), t)

    return step


CASES = {"training step": train, "inference": predict}
