"""LSTM language model, 2 layers of 650 units, 35 words, batch 20: training step with SGD"""

from __future__ import annotations

from ours_on_gpu import integers, pick, training_step

import chainer
import chainer.functions as F
import chainer.links as L

UNIT = "ms"
PER_CALL = pick(5, 1)
WORDS, UNITS, LENGTH, BATCH = pick((10000, 650, 35, 20), (50, 8, 4, 3))


class LanguageModel(chainer.Chain):
    def __init__(self, dropout):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(WORDS, UNITS)
            self.rnn = L.NStepLSTM(2, UNITS, UNITS, dropout)
            self.output = L.Linear(UNITS, WORDS)

    def forward(self, x, t):
        _, _, ys = self.rnn(None, None, F.separate(self.embed(x)))
        return F.softmax_cross_entropy(self.output(F.concat(ys, axis=0)), t)


def case(dropout):
    def prepare():
        batch = integers(WORDS, BATCH, LENGTH), integers(WORDS, BATCH * LENGTH)
        optimizer = chainer.optimizers.SGD(0.1)
        return training_step(LanguageModel(dropout), optimizer, batch, PER_CALL)

    return prepare


CASES = {"without dropout": case(0.0), "dropout 0.5": case(0.5)}
