"""Networks of the benchmarks of captured steps, see the programs with Chainer."""

from __future__ import annotations

import os
import time

import torch
from bench_torch import integers, random
from step_rows import with_data
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
    """``nn.LSTM`` or another over whole sequences, which is the fastest way in PyTorch."""

    def __init__(self, words=1000, units=200, layer=nn.LSTM):
        super().__init__()
        self.embed = nn.Embedding(words, units)
        self.rnn = layer(units, units)
        self.out = nn.Linear(units, words)

    def forward(self, x, t):
        ys, _ = self.rnn(self.embed(x))
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


_NETS = {
    "MLP b32": lambda: Perceptron(50),
    "wide MLP b100": lambda: Perceptron(1000),
    "LeNet b64": LeNet,
    "LSTM 35x20": LanguageModel,
    "Transformer 16x32": Transformer,
}

#: Name -> network, what makes inputs of a number, what makes labels of a number.
NETS = with_data(_NETS, random, integers)


def _gains_from_channels_last(model, x, t):
    times = []
    for layout in torch.contiguous_format, torch.channels_last:
        model, x = model.to(memory_format=layout), x.to(memory_format=layout)
        found = []
        for _ in range(3):
            start = time.perf_counter()
            model(x, t).backward()
            found.append(time.perf_counter() - start)
        times.append(min(found))
    return times[1] < times[0]


class Training:
    """A step of the fused Adam on a network, with batches that come one after the other.

    Images are in the layout with the channels last where that is faster.
    """

    def __init__(self, name, nets=NETS):
        network, inputs, labels = nets[name]
        torch.manual_seed(0)
        model = network()
        self.xs = [inputs(n) for n in range(INPUTS)]
        self.ts = [labels(n) for n in range(LABELS)]
        self.calls = 0
        if self.xs[0].ndim == 4 and _gains_from_channels_last(network(), self.xs[0], self.ts[0]):
            model = model.to(memory_format=torch.channels_last)
            self.xs = [x.to(memory_format=torch.channels_last) for x in self.xs]
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
