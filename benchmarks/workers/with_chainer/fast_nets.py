"""Networks of the benchmark ``fast`` beside the networks of the benchmark of captured steps."""

from __future__ import annotations

import capture_nets
import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from bench_chainer import integers, random
from cnn import CNN
from step_rows import CLASSES, EDGES, PENALTY, ROWS, UNET, UNITS, with_data
from nets import VGG16, ResNet50


class SequenceModel(chainer.Chain):
    """An LSTM over whole sequences: 35 words of 20 sequences."""

    def __init__(self, words=1000, units=200):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(words, units)
            self.lstm = L.NStepLSTM(1, units, units, 0.0)
            self.out = L.Linear(units, words)

    def __call__(self, x, t):
        xs = list(F.separate(F.transpose(self.embed(x), (1, 0, 2)), axis=0))
        _, _, ys = self.lstm(None, None, xs)
        logits = self.out(F.concat(ys, axis=0))
        return F.softmax_cross_entropy(logits, t.T.reshape(-1)) * len(x)


class DecoderLayer(chainer.Chain):
    """A layer of GPT-2: 768 units, 12 heads, causal attention over all rows."""

    def __init__(self, units=768, heads=12):
        super().__init__()
        self.heads = heads
        with self.init_scope():
            self.norm1 = L.LayerNormalization(units)
            self.qkv = L.Linear(units, 3 * units)
            self.out = L.Linear(units, units)
            self.norm2 = L.LayerNormalization(units)
            self.inner = L.Linear(units, 4 * units)
            self.outer = L.Linear(4 * units, units)

    def __call__(self, x, t):
        length, units = x.shape
        split = F.reshape(self.qkv(self.norm1(x)), (1, length, 3, self.heads, units // self.heads))
        q, k, v = F.separate(F.transpose(split, (2, 0, 3, 1, 4)))
        mixed = F.scaled_dot_product_attention(q, k, v, causal=True)
        h = x + self.out(F.reshape(F.transpose(mixed, (0, 2, 1, 3)), (length, units)))
        y = h + self.outer(F.gelu(self.inner(self.norm2(h)), approximate="tanh"))
        return F.mean_squared_error(y, t)


class GraphNetwork(chainer.Chain):
    """Two layers that add what the neighbors of each node send."""

    def __init__(self, nodes=1000):
        super().__init__()
        self.edges = integers(nodes, 2, EDGES, seed=1)
        with self.init_scope():
            self.own1 = L.Linear(UNITS, UNITS)
            self.sent1 = L.Linear(UNITS, UNITS)
            self.own2 = L.Linear(UNITS, UNITS)
            self.sent2 = L.Linear(UNITS, UNITS)
            self.out = L.Linear(UNITS, CLASSES)

    def __call__(self, x, t):
        for own, sent in (self.own1, self.sent1), (self.own2, self.sent2):
            messages = F.embed_id(self.edges[0], sent(x))
            x = F.relu(F.scatter_add(own(x), self.edges[1], messages))
        return F.softmax_cross_entropy(self.out(x), t)


class Convolutions(chainer.Chain):
    """Two convolutions, each with batch normalization and relu."""

    def __init__(self, inputs, outputs):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(inputs, outputs, 3, pad=1, nobias=True)
            self.bn1 = L.BatchNormalization(outputs)
            self.conv2 = L.Convolution2D(outputs, outputs, 3, pad=1, nobias=True)
            self.bn2 = L.BatchNormalization(outputs)

    def __call__(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class UNet(chainer.Chain):
    """Three resolutions; what was computed on the way down is used again on the way up."""

    def __init__(self, classes=4):
        super().__init__()
        a, b, c = UNET
        with self.init_scope():
            self.down1, self.down2, self.bottom = (
                Convolutions(3, a),
                Convolutions(a, b),
                Convolutions(b, c),
            )
            self.up2 = L.Deconvolution2D(c, b, 2, 2)
            self.merge2 = Convolutions(2 * b, b)
            self.up1 = L.Deconvolution2D(b, a, 2, 2)
            self.merge1 = Convolutions(2 * a, a)
            self.out = L.Convolution2D(a, classes, 1)

    def __call__(self, x, t):
        first = self.down1(x)
        second = self.down2(F.max_pooling_2d(first, 2))
        h = self.bottom(F.max_pooling_2d(second, 2))
        h = self.merge2(F.concat((self.up2(h), second), axis=1))
        h = self.merge1(F.concat((self.up1(h), first), axis=1))
        return F.softmax_cross_entropy(self.out(h), t)


class Critic(chainer.Chain):
    """The critic of WGAN-GP: ``x`` are real images, ``t`` generated ones."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 16, 4, 2, 1)
            self.conv2 = L.Convolution2D(16, 32, 4, 2, 1)
            self.out = L.Linear(32 * 6 * 6, 1)

    def score(self, x):
        return self.out(F.leaky_relu(self.conv2(F.leaky_relu(self.conv1(x)))))

    def __call__(self, x, t):
        mixed = chainer.Variable(0.5 * (x + t))
        (gradient,) = chainer.grad([F.sum(self.score(mixed))], [mixed], enable_double_backprop=True)
        norm = F.sqrt(F.sum(gradient * gradient, axis=(1, 2, 3)))
        penalty = F.mean((norm - 1) * (norm - 1))
        return F.mean(self.score(t)) - F.mean(self.score(x)) + PENALTY * penalty


def _sized(network, name):
    """Returns what makes a network whose sizes follow from a first batch."""

    def make():
        model = network()
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            model(np.zeros(ROWS[name][0], np.float32), np.zeros(ROWS[name][1][1], np.int32))
        return model

    return make


_NETS = {
    "CNN 64 b64": CNN,
    "VGG16 b8": _sized(lambda: VGG16(10), "VGG16 b8"),
    "ResNet50 b8": lambda: ResNet50(100),
    "GRU 35x20": lambda: capture_nets.LanguageModel(layer=L.StatefulGRU),
    "NStepLSTM 35x20": SequenceModel,
    "GPT-2 layer 1x128": DecoderLayer,
    "graph network": GraphNetwork,
    "U-Net b4": UNet,
    "WGAN-GP b16": Critic,
}

NETS = {**capture_nets.NETS, **with_data(_NETS, random, integers)}
