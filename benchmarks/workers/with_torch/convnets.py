"""Training step of LeNet5 (28x28, batch 64), VGG16 and ResNet50 (64x64, batch 8)"""

from __future__ import annotations

import torch
from bench_torch import integers, random, training_step
from torch import nn

UNIT = "ms"


def lenet5(classes):
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, classes)),
    )


def vgg16(classes):
    layers = []
    before = 3
    for group in ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512)):
        for size in group:
            layers += [nn.Conv2d(before, size, 3, padding=1), nn.ReLU()]
            before = size
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Linear(512 * 4, 512), nn.ReLU(), nn.Linear(512, classes)
    )


class Bottleneck(nn.Module):
    """Residual block of 1x1, 3x3 and 1x1 convolutions; a projection where the shape changes."""

    def __init__(self, before, middle, after, stride):
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(before, middle, 1, stride, bias=False), nn.BatchNorm2d(middle), nn.ReLU()),
            *(
                nn.Conv2d(middle, middle, 3, padding=1, bias=False),
                nn.BatchNorm2d(middle),
                nn.ReLU(),
            ),
            *(nn.Conv2d(middle, after, 1, bias=False), nn.BatchNorm2d(after)),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
            )

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet50(classes):
    layers = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    before = 64
    for stage, (middle, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for index in range(count):
            layers.append(
                Bottleneck(before, middle, 4 * middle, 2 if index == 0 and stage > 0 else 1)
            )
            before = 4 * middle
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, classes))


def train(network, classes, *shape):
    def prepare():
        model, loss = network(classes), nn.CrossEntropyLoss()
        x, t = random(*shape), integers(classes, shape[0])
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
        # Weights differ from the other peers': losses of two frameworks are not compared.
        return training_step(model, optimizer, lambda: loss(model(x), t))

    return prepare


CASES = {
    "LeNet5": train(lenet5, 10, 64, 1, 28, 28),
    "VGG16": train(vgg16, 10, 8, 3, 64, 64),
    "ResNet50": train(resnet50, 100, 8, 3, 64, 64),
}
