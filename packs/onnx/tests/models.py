"""Small versions of well-known models."""

from __future__ import annotations

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 6, 5, pad=2)
            self.conv2 = L.Convolution2D(6, 16, 5)
            self.fc1 = L.Linear(None, 20)
            self.fc2 = L.Linear(20, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return F.softmax(self.fc2(F.relu(self.fc1(h))))


class VGGBlocks(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.convs = chainer.ChainList(
                L.Convolution2D(3, 4, 3, pad=1),
                L.Convolution2D(4, 4, 3, pad=1),
                L.Convolution2D(4, 8, 3, pad=1),
            )
            self.fc = L.Linear(8 * 4 * 4, 5)

    def forward(self, x):
        h = F.relu(self.convs[0](x))
        h = F.max_pooling_2d(F.relu(self.convs[1](h)), 2, 2)
        h = F.max_pooling_2d(F.relu(self.convs[2](h)), 2, 2)
        return self.fc(F.dropout(h))


class ResBlock(chainer.Chain):
    def __init__(self, channels, stride=1):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, channels, 3, stride, 1, nobias=True)
            self.bn1 = L.BatchNormalization(channels)
            self.conv2 = L.Convolution2D(channels, channels, 3, 1, 1, nobias=True)
            self.bn2 = L.BatchNormalization(channels, use_beta=False)
            self.conv3 = L.Convolution2D(None, channels, 1, stride, nobias=True)
            self.bn3 = L.BatchNormalization(channels, use_gamma=False)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.bn3(self.conv3(x)))


class ResNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.stem = L.Convolution2D(3, 4, 3)
            self.block1 = ResBlock(4)
            self.block2 = ResBlock(8, 2)
            self.fc = L.Linear(8, 3)
        # Statistics that are not the initial ones.
        rng = np.random.RandomState(0)
        for link in self.links():
            if isinstance(link, L.BatchNormalization):
                link.avg_mean[...] = rng.randn(*link.avg_mean.shape)
                link.avg_var[...] = rng.uniform(0.5, 2, link.avg_var.shape)

    def forward(self, x):
        h = self.block2(self.block1(self.stem(x)))
        return self.fc(F.average(h, axis=(2, 3)))


class Inception(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.inception = L.Inception(None, 4, 3, 5, 2, 3, 2)

    def forward(self, x):
        x = F.local_response_normalization(F.max_pooling_2d(x, 3, stride=2))
        return F.average_pooling_2d(self.inception(x), 3, stride=1)


class LanguageModel(chainer.Chain):
    """LSTM step by step."""

    def __init__(self, n_vocab=11, n_units=6):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.lstm = L.StatelessLSTM(n_units, n_units)
            self.out = L.Linear(n_units, n_vocab)

    def forward(self, xs):
        c = h = None
        ys = []
        for t in range(xs.shape[1]):
            c, h = self.lstm(c, h, self.embed(xs[:, t]))
            ys.append(self.out(h))
        return F.stack(ys, axis=1)


class NStepLanguageModel(chainer.Chain):
    """LSTM over whole sequences."""

    def __init__(self, n_vocab=11, n_units=6, cls=L.NStepLSTM):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.rnn = cls(2, n_units, n_units, 0.2)
            self.out = L.Linear(None, n_vocab)

    def forward(self, *xs):
        ys = self.rnn(*[None] * self.rnn.n_cells, [self.embed(x) for x in xs])[-1]
        return tuple([self.out(y) for y in ys])


class Transformer(chainer.Chain):
    """Encoder with attention made of Chainer's functions."""

    def __init__(self, n_vocab=11, n_units=8, n_heads=2, causal=False):
        super().__init__()
        self.n_heads = n_heads
        self.causal = causal
        with self.init_scope():
            self.embed = L.EmbedID(n_vocab, n_units)
            self.qkv = L.Linear(n_units, 3 * n_units)
            self.proj = L.Linear(n_units, n_units)
            self.norm = L.LayerNormalization(n_units)
            self.out = L.Linear(n_units, n_vocab)

    def forward(self, x):
        batch, length = x.shape
        h = self.embed(x)
        q, k, v = F.split_axis(self.qkv(h, n_batch_axes=2), 3, axis=2)
        q, k, v = (
            F.transpose(
                F.reshape(a, (batch, length, self.n_heads, a.shape[2] // self.n_heads)),
                (0, 2, 1, 3),
            )
            for a in (q, k, v)
        )
        scores = F.matmul(q, k, transb=True) * q.shape[-1] ** -0.5
        y = F.matmul(F.softmax(scores, axis=3), v)
        y = F.reshape(F.transpose(y, (0, 2, 1, 3)), (batch, length, -1))
        h = h + self.proj(y, n_batch_axes=2)
        h = F.reshape(self.norm(F.reshape(h, (batch * length, -1))), h.shape)
        return self.out(h, n_batch_axes=2)


class Generator(chainer.Chain):
    """Of DCGAN."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l0 = L.Linear(5, 8 * 2 * 2)
            self.dc1 = L.Deconvolution2D(8, 4, 4, 2, 1)
            self.bn0 = L.BatchNormalization(8 * 2 * 2)
            self.bn1 = L.BatchNormalization(4)
            self.dc2 = L.Deconvolution2D(4, 3, 3, 1, 1)

    def forward(self, z):
        h = F.reshape(F.relu(self.bn0(self.l0(z))), (len(z), 8, 2, 2))
        h = F.relu(self.bn1(self.dc1(h)))
        return F.sigmoid(self.dc2(h))


def images(*shape):
    return np.random.RandomState(0).rand(*shape).astype(np.float32)


def tokens(*shape):
    return np.random.RandomState(0).randint(0, 11, shape).astype(np.int32)
