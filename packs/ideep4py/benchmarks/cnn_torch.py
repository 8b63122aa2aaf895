"""The same training step on PyTorch, with its own automatic differentiation and optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def _block(channels: int, pool: bool) -> list[nn.Module]:
    layers: list[nn.Module] = [
        nn.Conv2d(channels, 64, 3, padding=1, bias=False),
        nn.BatchNorm2d(64, eps=2e-5),
        nn.ReLU(inplace=True),
    ]
    return [*layers, nn.MaxPool2d(2)] if pool else layers


def make() -> Callable[[], Any]:
    """The benchmark case."""
    layers = [*_block(3, False), *_block(64, True), *_block(64, True)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 8 * 8, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, labels = torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))

    def step() -> float:
        with torch.enable_grad():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
        return float(loss)

    return step
