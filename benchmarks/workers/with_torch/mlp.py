"""Multi-layer perceptron 784-50-50-10: training step with Adam"""

from __future__ import annotations

import torch
from bench_torch import integers, random, training_step
from torch import nn

UNIT = "us"


def batch(size, **arguments):
    def prepare():
        model = nn.Sequential(
            nn.Linear(784, 50), nn.ReLU(), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 10)
        )
        x, t = random(size, 784), integers(10, size)
        loss = nn.CrossEntropyLoss()
        optimizer = torch.optim.Adam(model.parameters(), **arguments)
        return training_step(model, optimizer, lambda: loss(model(x), t))

    return prepare


CASES = {
    "batch 32": batch(32),
    "batch 100": batch(100),
    "batch 32 fused": batch(32, fused=True),
    "batch 100 fused": batch(100, fused=True),
}
