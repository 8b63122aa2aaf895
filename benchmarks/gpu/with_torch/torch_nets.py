"""Convolution networks of several programs."""

from __future__ import annotations

import torch
from torch import nn


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        outside = 4 * width
        self.c1 = nn.Conv2d(inside, width, 1, bias=False)
        self.b1 = nn.BatchNorm2d(width)
        self.c2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.b2 = nn.BatchNorm2d(width)
        self.c3 = nn.Conv2d(width, outside, 1, bias=False)
        self.b3 = nn.BatchNorm2d(outside)
        self.projects = stride != 1 or inside != outside
        if self.projects:
            self.c4 = nn.Conv2d(inside, outside, 1, stride, bias=False)
            self.b4 = nn.BatchNorm2d(outside)

    def forward(self, x):
        h = torch.relu(self.b1(self.c1(x)))
        h = torch.relu(self.b2(self.c2(h)))
        h = self.b3(self.c3(h))
        return torch.relu(h + (self.b4(self.c4(x)) if self.projects else x))


class ResNet(nn.Module):
    """ResNet50 with ``width`` 64 and ``depths`` (3, 4, 6, 3)."""

    def __init__(self, width, depths, classes, dtype):
        super().__init__()
        self.c0 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.b0 = nn.BatchNorm2d(width)
        blocks = []
        inside = width
        for i, depth in enumerate(depths):
            for j in range(depth):
                blocks.append(Bottleneck(inside, width << i, 2 if i and not j else 1))
                inside = 4 * (width << i)
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.fc = nn.Linear(inside, classes)
        self.to(dtype)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.float()

    def forward(self, x):
        h = self.pool(torch.relu(self.b0(self.c0(x))))
        h = self.blocks(h)
        return self.fc(h.mean(dim=(2, 3))).float()
