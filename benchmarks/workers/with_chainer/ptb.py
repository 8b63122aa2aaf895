"""Language model of PTB size (2 LSTMs of 200, 10,000 words, batch 20, 35 steps): step"""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
from bench_case import Case
from bench_chainer import fill, integers, link, random, training_step

UNIT = "ms"
BUDGETS = {"upstream": 1.0}
WORDS, UNITS, BATCH, STEPS = 10000, 200, 20, 35


class Stepwise(chainer.Chain):
    """As in the example: one LSTM step, one output layer and one loss per word."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(WORDS, UNITS)
            self.l1 = L.LSTM(UNITS, UNITS)
            self.l2 = L.LSTM(UNITS, UNITS)
            self.out = L.Linear(UNITS, WORDS)

    def __call__(self, words, following):
        self.l1.reset_state()
        self.l2.reset_state()
        loss = 0
        for x, t in zip(words, following):
            h = self.l2(self.l1(self.embed(x)))
            loss += F.softmax_cross_entropy(self.out(h), t)
        return loss


class Sequences(chainer.Chain):
    """NStepLSTM over whole sequences, one output layer and one loss for all words."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(WORDS, UNITS)
            self.lstm = link("NStepLSTM")(2, UNITS, UNITS, 0.0)
            self.out = L.Linear(UNITS, WORDS)

    def __call__(self, words, following):
        xs = list(F.separate(self.embed(words.T), axis=0))  # one (steps, units) array per sequence
        _, _, ys = self.lstm(None, None, xs)
        return F.softmax_cross_entropy(self.out(F.concat(ys, axis=0)), following.T.ravel())


def train(network):
    def prepare():
        words = integers(WORDS, STEPS, BATCH)
        following = integers(WORDS, STEPS, BATCH, seed=1)
        return training_step(fill(network()), chainer.optimizers.SGD(lr=0.01), words, following)

    return prepare


def lstm_layer():
    """The recurrent layer alone, without the large output layer."""
    layer = fill(link("NStepLSTM")(2, UNITS, UNITS, 0.0))
    xs = [random(STEPS, UNITS, seed=n) for n in range(BATCH)]

    def step():
        layer.cleargrads()
        hy, _, ys = layer(None, None, xs)
        loss = F.sum(F.concat(ys, axis=0)) + F.sum(hy)
        loss.backward()

    return Case([("", step)])


CASES = {
    "stepwise LSTM": train(Stepwise),
    "NStepLSTM": train(Sequences),
    "NStepLSTM layer alone": lstm_layer,
}
