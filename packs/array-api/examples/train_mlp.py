"""Trains a small perceptron on NumPy arrays and on PyTorch tensors: the losses are the same.

    python examples/train_mlp.py [BACKEND]

The model, the optimizer and the loop do not know of the library. The data are Gaussian blobs, one
for each class.
"""

from __future__ import annotations

import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import optimizers


class MLP(chainer.Chain):
    """Two layers."""

    def __init__(self, units: int, classes: int) -> None:
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(None, units)
            self.out = L.Linear(units, classes)

    def forward(self, x):
        return self.out(F.relu(self.hidden(x)))


def blobs(count: int, classes: int = 4, size: int = 20):
    """Returns samples ``(count, size)`` and their classes ``(count,)``."""
    random = np.random.RandomState(0)
    t = random.randint(0, classes, count).astype(np.int32)
    x = random.normal(size=(classes, size))[t] + random.normal(scale=0.8, size=(count, size))
    return x.astype(np.float32), t


def train(specifier: str, epochs: int = 5, batch: int = 25) -> list[float]:
    """Returns the mean loss of each epoch."""
    device = chainer.get_device(specifier)
    np.random.seed(0)  # initial weights are drawn on the host
    model = L.Classifier(MLP(30, 4))
    x, t = blobs(500)
    model(x[:1], t[:1])  # finds the sizes out
    model.to_device(device)
    optimizer = optimizers.Adam(alpha=0.01).setup(model)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for i in range(0, len(x), batch):
            optimizer.update(model, *device.send((x[i : i + batch], t[i : i + batch])))
            total += float(model.loss.array)
        losses.append(total * batch / len(x))
    return losses


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "torch"
    ours, theirs = train("@numpy"), train(f"@{name}")
    print(f"epoch  {'numpy':>10}  {name:>10}")
    for epoch, (a, b) in enumerate(zip(ours, theirs, strict=True), 1):
        print(f"{epoch:5}  {a:10.6f}  {b:10.6f}")


if __name__ == "__main__":
    main()
