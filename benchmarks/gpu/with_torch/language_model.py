"""LSTM language model, 2 layers of 650 units, 35 words, batch 20: training step with SGD"""

from __future__ import annotations

import torch
from torch import nn
from torch_on_gpu import DEVICE, integers, pick, training_step

UNIT = "ms"
PER_CALL = pick(5, 1)
WORDS, UNITS, LENGTH, BATCH = pick((10000, 650, 35, 20), (50, 8, 4, 3))


class LanguageModel(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.embed = nn.Embedding(WORDS, UNITS)
        self.rnn = nn.LSTM(UNITS, UNITS, 2, dropout=dropout, batch_first=True)
        self.output = nn.Linear(UNITS, WORDS)

    def forward(self, x):
        y, _ = self.rnn(self.embed(x))
        return self.output(y.reshape(-1, UNITS))


def case(dropout):
    def prepare():
        model = LanguageModel(dropout).to(DEVICE)
        x, t = integers(WORDS, BATCH, LENGTH), integers(WORDS, BATCH * LENGTH)
        loss = nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        return training_step(model, optimizer, lambda: loss(model(x), t), PER_CALL)

    return prepare


CASES = {"without dropout": case(0.0), "dropout 0.5": case(0.5)}
