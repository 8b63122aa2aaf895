"""Networks of the benchmarks of captured steps."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from bench_chainer import fill, integers, random
from step_rows import with_data

#: Batches of inputs and of labels. Their numbers have no common divisor, so that an input comes
#: with ever other labels: a loss that is nearly zero makes numbers that processors compute slowly.
INPUTS, LABELS = 7, 11


class MLP(chainer.Chain):
    def __init__(self, units):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(784, units)
            self.l2 = L.Linear(units, units)
            self.l3 = L.Linear(units, 10)

    def __call__(self, x, t):
        h = F.relu(self.l2(F.relu(self.l1(x))))
        return F.softmax_cross_entropy(self.l3(h), t)


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 20, 5)
            self.c2 = L.Convolution2D(20, 50, 5)
            self.l1 = L.Linear(800, 500)
            self.l2 = L.Linear(500, 10)

    def __call__(self, x, t):
        h = F.max_pooling_2d(F.relu(self.c1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.c2(h)), 2)
        return F.softmax_cross_entropy(self.l2(F.relu(self.l1(h))), t)


class LanguageModel(chainer.Chain):
    """An LSTM or another recurrent layer, step by step: 35 words of 20 sequences."""

    def __init__(self, words=1000, units=200, layer=L.LSTM):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.rnn = layer(units, units)
            self.out = L.Linear(units, words)

    def __call__(self, x, t):
        self.rnn.reset_state()
        loss = 0
        for i in range(len(x)):
            loss += F.softmax_cross_entropy(self.out(self.rnn(self.embed(x[i]))), t[i])
        return loss


class EncoderLayer(chainer.Chain):
    def __init__(self, units, heads):
        super().__init__()
        self.heads = heads
        with self.init_scope():
            self.qkv = L.Linear(units, 3 * units)
            self.out = L.Linear(units, units)
            self.norm1 = L.LayerNormalization(units)
            self.inner = L.Linear(units, 4 * units)
            self.outer = L.Linear(4 * units, units)
            self.norm2 = L.LayerNormalization(units)

    def __call__(self, x, size):
        batch, length = size
        units, heads = x.shape[1], self.heads
        split = F.reshape(self.qkv(x), (batch, length, 3, heads, units // heads))
        q, k, v = F.separate(F.transpose(split, (2, 0, 3, 1, 4)))
        scores = F.matmul(q, k, transb=True) * (units // heads) ** -0.5
        mixed = F.transpose(F.matmul(F.softmax(scores, axis=3), v), (0, 2, 1, 3))
        x = self.norm1(x + self.out(F.reshape(mixed, (batch * length, units))))
        return self.norm2(x + self.outer(F.relu(self.inner(x))))


class Transformer(chainer.Chain):
    """Two encoder layers of 64 units with 4 heads; each of 32 positions predicts a word."""

    def __init__(self, words=1000, units=64, heads=4, length=32):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.position = L.EmbedID(length, units)
            self.e1 = EncoderLayer(units, heads)
            self.e2 = EncoderLayer(units, heads)
            self.out = L.Linear(units, words)

    def __call__(self, x, t):
        batch, length = x.shape
        h = self.embed(x) + F.broadcast_to(self.position.W, (batch, length, self.embed.W.shape[1]))
        h = F.reshape(h, (batch * length, h.shape[2]))
        h = self.e2(self.e1(h, x.shape), x.shape)
        return F.softmax_cross_entropy(self.out(h), F.reshape(t, (batch * length,)))


_NETS = {
    "MLP b32": lambda: MLP(50),
    "wide MLP b100": lambda: MLP(1000),
    "LeNet b64": LeNet,
    "LSTM 35x20": LanguageModel,
    "Transformer 16x32": Transformer,
}

#: Name -> network, what makes inputs of a number, what makes labels of a number.
NETS = with_data(_NETS, random, integers)


class Training:
    """A step of Adam on a network, with batches that come one after the other.

    Args:
        name: Name of the network.
        device: Name of the device.
        nets: Networks by name.
    """

    def __init__(self, name, device="@numpy", nets=NETS):
        network, inputs, labels = nets[name]
        self.model = fill(network())
        self.waits = device != "@numpy"
        xs = [inputs(n) for n in range(INPUTS)]
        ts = [labels(n) for n in range(LABELS)]
        if device != "@numpy":
            target = chainer.get_device(device)
            self.model.to_device(target)
            xs, ts = [target.send(x) for x in xs], [target.send(t) for t in ts]
        self.xs, self.ts, self.calls = xs, ts, 0
        self.optimizer = chainer.optimizers.Adam()
        self.optimizer.setup(self.model)
        self.step = self.written

    def written(self, x, t):
        loss = self.model(x, t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss

    def capture(self):
        # An error rather than the time of the step as it is written.
        # A function of its own: a method's object is watched, and this one counts its calls.
        model, optimizer = self.model, self.optimizer

        def step(x, t):
            loss = model(x, t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        self.step = chainer.capture(step, model, optimizer, on_failure="error")

    def __call__(self):
        n = self.calls
        self.calls += 1
        self.loss = self.step(self.xs[n % INPUTS], self.ts[n % LABELS])
        if self.waits:
            # JAX computes while Python goes on.
            self.loss.array.native.block_until_ready()

    def result(self):
        """Returns the last loss."""
        return [float(np.asarray(chainer.get_device("@numpy").send(self.loss.array)))]
