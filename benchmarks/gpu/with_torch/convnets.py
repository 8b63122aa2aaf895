"""Convolution networks: training step with momentum SGD, channels first"""

from __future__ import annotations

import torch
from torch import nn
from torch_nets import ResNet, lenet5
from torch_on_gpu import DEVICE, integers, pick, random, training_step

UNIT = "ms"
PER_CALL = pick(5, 1)

loss = nn.CrossEntropyLoss()


def small(size):
    def prepare():
        model = lenet5().to(DEVICE)
        x, t = random(size, 1, 28, 28), integers(10, size)
        optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
        return training_step(model, optimizer, lambda: loss(model(x), t), PER_CALL)

    return prepare


def resnet50(dtype, **settings):
    def prepare():
        size, image = pick(64, 2), pick(224, 32)
        classes = pick(1000, 10)
        model = ResNet(pick(64, 8), pick((3, 4, 6, 3), (1, 1)), classes, dtype).to(DEVICE)
        x, t = random(size, 3, image, image, dtype=dtype), integers(classes, size)
        optimizer = torch.optim.SGD(model.parameters(), 1e-4, momentum=0.9)
        return training_step(model, optimizer, lambda: loss(model(x), t), PER_CALL, **settings)

    return prepare


CASES = {
    "LeNet5, batch 64": small(pick(64, 4)),
    "LeNet5, batch 1024": small(pick(1024, 8)),
    "ResNet50 float32": resnet50(torch.float32),
    "ResNet50 tf32": resnet50(torch.float32, tf32=True),
    "ResNet50 float16": resnet50(torch.float16),
}
