"""Networks of the benchmarks of captured steps, see the programs with Chainer."""

from __future__ import annotations

import os

import torch
from bench_torch import integers, random
from torch import nn

INPUTS, LABELS = 7, 11

#: Whether the loss is compiled.
COMPILES = os.environ.get("CHAINER_BENCH_COMPILE") == "1"


class Perceptron(nn.Module):
    def __init__(self, units):
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Linear(784, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU()),
            nn.Linear(units, 10),
        )

    def forward(self, x, t):
        return nn.functional.cross_entropy(self.layers(x), t)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10)),
        )

    def forward(self, x, t):
        return nn.functional.cross_entropy(self.layers(x), t)


class LanguageModel(nn.Module):
    """``nn.LSTM`` over whole sequences, which is the fastest way in PyTorch."""

    def __init__(self, words=1000, units=200):
        super().__init__()
        self.embed = nn.Embedding(words, units)
        self.lstm = nn.LSTM(units, units)
        self.out = nn.Linear(units, words)

    def forward(self, x, t):
        ys, _ = self.lstm(self.embed(x))
        logits = self.out(ys).reshape(-1, self.out.out_features)
        return nn.functional.cross_entropy(logits, t.reshape(-1)) * len(x)


class Transformer(nn.Module):
    def __init__(self, words=1000, units=64, heads=4, length=32):
        super().__init__()
        self.embed = nn.Embedding(words, units)
        self.position = nn.Parameter(torch.zeros(length, units))
        layer = nn.TransformerEncoderLayer(units, heads, 4 * units, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(units, words)

    def forward(self, x, t):
        logits = self.out(self.encoder(self.embed(x) + self.position))
        return nn.functional.cross_entropy(logits.flatten(0, 1), t.reshape(-1))


NETS = {
    "MLP b32": (lambda: Perceptron(50), lambda n: random(32, 784, seed=n), (10, 32)),
    "wide MLP b100": (lambda: Perceptron(1000), lambda n: random(100, 784, seed=n), (10, 100)),
    "LeNet b64": (LeNet, lambda n: random(64, 1, 28, 28, seed=n), (10, 64)),
    "LSTM 35x20": (LanguageModel, lambda n: integers(1000, 35, 20, seed=n), (1000, 35, 20)),
    "Transformer 16x32": (Transformer, lambda n: integers(1000, 16, 32, seed=n), (1000, 16, 32)),
}


class Training:
    """A step of the fused Adam on a network, with batches that come one after the other."""

    def __init__(self, name):
        network, inputs, labels = NETS[name]
        torch.manual_seed(0)
        model = network()
        self.xs = [inputs(n) for n in range(INPUTS)]
        self.ts = [integers(*labels, seed=n) for n in range(LABELS)]
        self.calls = 0
        self.optimizer = torch.optim.Adam(model.parameters(), fused=True)
        self.loss_of = torch.compile(model) if COMPILES else model

    def __call__(self):
        n = self.calls
        self.calls += 1
        loss = self.loss_of(self.xs[n % INPUTS], self.ts[n % LABELS])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.loss = loss.detach()

    def result(self):
        return [float(self.loss)]
