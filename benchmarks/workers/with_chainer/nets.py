"""Convolutional networks that the programs with Chainer train; each returns the loss of a batch."""

from __future__ import annotations

import chainer
import chainer.functions as F
import chainer.links as L


class LeNet5(chainer.Chain):
    """LeNet5 with relu."""

    def __init__(self, classes):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 6, 5, pad=2)
            self.conv2 = L.Convolution2D(6, 16, 5)
            self.fc3 = L.Linear(None, 120)
            self.fc4 = L.Linear(120, 84)
            self.fc5 = L.Linear(84, classes)

    def __call__(self, x, t):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        h = F.relu(self.fc4(F.relu(self.fc3(h))))
        return F.softmax_cross_entropy(self.fc5(h), t)


class VGG16(chainer.Chain):
    """The 13 convolutions of VGG16 (configuration D) and two smaller layers."""

    SIZES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))

    def __init__(self, classes):
        super().__init__()
        with self.init_scope():
            convolutions = []
            before = 3
            for group in self.SIZES:
                for size in group:
                    convolutions.append(L.Convolution2D(before, size, 3, pad=1))
                    before = size
            self.convolutions = chainer.ChainList(*convolutions)
            self.fc1 = L.Linear(None, 512)
            self.fc2 = L.Linear(512, classes)

    def __call__(self, x, t):
        convolutions = iter(self.convolutions.children())
        h = x
        for group in self.SIZES:
            for _ in group:
                h = F.relu(next(convolutions)(h))
            h = F.max_pooling_2d(h, 2)
        return F.softmax_cross_entropy(self.fc2(F.relu(self.fc1(h))), t)


class Bottleneck(chainer.Chain):
    """Residual block of 1x1, 3x3 and 1x1 convolutions; a projection where the shape changes."""

    def __init__(self, before, middle, after, stride):
        super().__init__()
        self.projects = stride != 1 or before != after
        with self.init_scope():
            self.conv1 = L.Convolution2D(before, middle, 1, stride, nobias=True)
            self.bn1 = L.BatchNormalization(middle)
            self.conv2 = L.Convolution2D(middle, middle, 3, pad=1, nobias=True)
            self.bn2 = L.BatchNormalization(middle)
            self.conv3 = L.Convolution2D(middle, after, 1, nobias=True)
            self.bn3 = L.BatchNormalization(after)
            if self.projects:
                self.conv4 = L.Convolution2D(before, after, 1, stride, nobias=True)
                self.bn4 = L.BatchNormalization(after)

    def __call__(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        shortcut = self.bn4(self.conv4(x)) if self.projects else x
        return F.relu(h + shortcut)


class ResNet50(chainer.Chain):
    """ResNet50: a 7x7 convolution and 3, 4, 6 and 3 bottleneck blocks."""

    def __init__(self, classes):
        super().__init__()
        blocks = []
        before = 64
        for stage, (middle, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
            for index in range(count):
                stride = 2 if index == 0 and stage > 0 else 1
                blocks.append(Bottleneck(before, middle, 4 * middle, stride))
                before = 4 * middle
        with self.init_scope():
            self.conv1 = L.Convolution2D(3, 64, 7, 2, 3, nobias=True)
            self.bn1 = L.BatchNormalization(64)
            self.blocks = chainer.ChainList(*blocks)
            self.fc = L.Linear(before, classes)

    def __call__(self, x, t):
        h = F.max_pooling_2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1, cover_all=False)
        for block in self.blocks.children():
            h = block(h)
        h = F.average_pooling_2d(h, h.shape[2:])
        return F.softmax_cross_entropy(self.fc(h), t)
