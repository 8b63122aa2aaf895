"""Convolution networks of several programs."""

from __future__ import annotations

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L


class LeNet5(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 6, 5, pad=2)
            self.c2 = L.Convolution2D(6, 16, 5)
            self.l3 = L.Linear(400, 120)
            self.l4 = L.Linear(120, 84)
            self.l5 = L.Linear(84, 10)

    def forward(self, x, t):
        h = F.max_pooling_2d(F.relu(self.c1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.c2(h)), 2)
        h = F.relu(self.l4(F.relu(self.l3(h))))
        return F.softmax_cross_entropy(self.l5(h), t)


class Bottleneck(chainer.Chain):
    def __init__(self, inside, width, stride):
        super().__init__()
        outside = 4 * width
        with self.init_scope():
            self.c1 = L.Convolution2D(inside, width, 1, nobias=True)
            self.b1 = L.BatchNormalization(width, dtype=np.float32)
            self.c2 = L.Convolution2D(width, width, 3, stride, 1, nobias=True)
            self.b2 = L.BatchNormalization(width, dtype=np.float32)
            self.c3 = L.Convolution2D(width, outside, 1, nobias=True)
            self.b3 = L.BatchNormalization(outside, dtype=np.float32)
            if stride != 1 or inside != outside:
                self.c4 = L.Convolution2D(inside, outside, 1, stride, nobias=True)
                self.b4 = L.BatchNormalization(outside, dtype=np.float32)
        self.projects = stride != 1 or inside != outside

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        h = F.relu(self.b2(self.c2(h)))
        h = self.b3(self.c3(h))
        return F.relu(h + (self.b4(self.c4(x)) if self.projects else x))


class ResNet(chainer.Chain):
    """ResNet50 with ``width`` 64 and ``depths`` (3, 4, 6, 3)."""

    def __init__(self, width, depths, classes, dtype):
        super().__init__()
        with self.init_scope(), chainer.using_config("dtype", np.dtype(dtype)):
            self.c0 = L.Convolution2D(3, width, 7, 2, 3, nobias=True)
            self.b0 = L.BatchNormalization(width, dtype=np.float32)
            self.blocks = chainer.ChainList()
            inside = width
            for i, depth in enumerate(depths):
                for j in range(depth):
                    inner = width << i
                    stride = 2 if i and not j else 1
                    self.blocks.append(Bottleneck(inside, inner, stride))
                    inside = 4 * inner
            self.fc = L.Linear(inside, classes)

    def forward(self, x, t):
        h = F.relu(self.b0(self.c0(x)))
        h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
        for block in self.blocks:
            h = block(h)
        h = self.fc(F.mean(h, axis=(2, 3)))
        return F.softmax_cross_entropy(F.cast(h, np.float32), t)
