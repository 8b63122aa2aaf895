"""Language model of PTB size (2 LSTMs of 200, 10,000 words, batch 20, 35 steps): step"""

from __future__ import annotations

import torch
from bench_case import Case
from bench_torch import integers, random, training_step
from torch import nn

UNIT = "ms"
WORDS, UNITS, BATCH, STEPS = 10000, 200, 20, 35


class Stepwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, UNITS)
        self.l1 = nn.LSTMCell(UNITS, UNITS)
        self.l2 = nn.LSTMCell(UNITS, UNITS)
        self.out = nn.Linear(UNITS, WORDS)

    def forward(self, words, following):
        first = second = None
        loss = 0
        for x, t in zip(words, following):
            first = self.l1(self.embed(x), first)
            second = self.l2(first[0], second)
            loss = loss + nn.functional.cross_entropy(self.out(second[0]), t)
        return loss


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, UNITS)
        self.lstm = nn.LSTM(UNITS, UNITS, 2)
        self.out = nn.Linear(UNITS, WORDS)

    def forward(self, words, following):
        ys, _ = self.lstm(self.embed(words))
        return nn.functional.cross_entropy(self.out(ys.reshape(-1, UNITS)), following.ravel())


def train(network):
    def prepare():
        model = network()
        words = integers(WORDS, STEPS, BATCH)
        following = integers(WORDS, STEPS, BATCH, seed=1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        return training_step(model, optimizer, lambda: model(words, following))

    return prepare


def lstm_layer():
    layer = nn.LSTM(UNITS, UNITS, 2)
    xs = random(STEPS, BATCH, UNITS)

    def step():
        layer.zero_grad(set_to_none=True)
        ys, (hy, _) = layer(xs)
        (ys.sum() + hy.sum()).backward()

    return Case([("", step)])


CASES = {
    "stepwise LSTM": train(Stepwise),
    "NStepLSTM": train(Sequences),
    "NStepLSTM layer alone": lstm_layer,
}
