"""Multi-layer perceptrons: training step with Adam"""

from __future__ import annotations

import torch
from torch import nn
from torch_on_gpu import DEVICE, integers, pick, random, training_step

UNIT = "us"
PER_CALL = pick(20, 2)


def case(width, size):
    def prepare():
        model = nn.Sequential(
            nn.Linear(784, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 10),
        ).to(DEVICE)
        x, t = random(size, 784), integers(10, size)
        loss = nn.CrossEntropyLoss()
        optimizer = torch.optim.Adam(model.parameters())
        return training_step(model, optimizer, lambda: loss(model(x), t), PER_CALL)

    return prepare


CASES = {
    "50 units, batch 32": case(50, 32),
    "1000 units, batch 256": case(pick(1000, 20), pick(256, 8)),
}
