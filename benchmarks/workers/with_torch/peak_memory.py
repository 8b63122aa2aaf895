"""Peak memory of two training steps of a 20-layer MLP (512 units, batch 1024, SGD)"""

from __future__ import annotations

import os
import sys

sys.path.insert(
    0, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)  # run as a script, too

from bench_memory import cases, growth  # noqa: E402  (needs the line above)

UNIT = "MB"
MEASURED = True
CASES = {"resident": cases(os.path.abspath(__file__))["resident"]}


def train(layers, units, batch):
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(units, units))
    for _ in range(layers - 1):
        model.append(nn.ReLU())
        model.append(nn.Linear(units, units))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.rand(batch, units)
    t = torch.zeros(batch, dtype=torch.int64)
    for _ in range(2):
        loss = nn.functional.cross_entropy(model(x), t)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    train(2, 8, 4)  # loads all code first: only tensors are left to count
    print(growth(sys.argv[1], lambda: train(20, 512, 1024)))
