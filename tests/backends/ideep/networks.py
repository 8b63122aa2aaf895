"""Networks that the tests train; each gives scores."""

from itertools import pairwise

import chainer
import chainer.functions as F
import chainer.links as L
from chainer.initializers import HeNormal


class LeNet5(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 6, 5, pad=2)
            self.conv2 = L.Convolution2D(6, 16, 5)
            self.fc3 = L.Linear(400, 120)
            self.fc4 = L.Linear(120, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.local_response_normalization(F.max_pooling_2d(F.relu(self.conv2(h)), 2))
        return self.fc4(F.relu(self.fc3(h)))


class Residual(chainer.Chain):
    def __init__(self, channels):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(channels, channels, 3, pad=1, nobias=True)
            self.norm = L.BatchNormalization(channels)

    def forward(self, x):
        return F.relu(x + self.norm(self.conv(x)))


class Mixed(chainer.Chain):
    """Convolutions, batch normalization, a residual block, concatenation, dropout."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 16, 3, pad=1)
            self.norm1 = L.BatchNormalization(16)
            self.block = Residual(16)
            self.up = L.Deconvolution2D(16, 8, 2, stride=2)
            self.conv2 = L.Convolution2D(24, 16, 3, pad=1)
            self.fc = L.Linear(16, 10)

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        low = F.relu(self.up(F.max_pooling_2d(self.block(h), 2)))
        h = F.leaky_relu(self.conv2(F.dropout(F.concat([h, low]), 0.2)))
        return self.fc(F.average_pooling_2d(h, h.shape[2:]))


class VGG16(chainer.Chain):
    """The convolutions of VGG16, an eighth as wide."""

    COUNTS = (2, 2, 3, 3, 3)

    def __init__(self, width=8, classes=10):
        super().__init__()
        sizes = [width * min(2**i, 8) for i, n in enumerate(self.COUNTS) for _ in range(n)]
        with self.init_scope():
            self.convs = chainer.ChainList(
                *[
                    L.Convolution2D(before, size, 3, pad=1, initialW=HeNormal())
                    for before, size in pairwise([3, *sizes])
                ]
            )
            self.fc1 = L.Linear(sizes[-1], 64)
            self.fc2 = L.Linear(64, classes)

    def forward(self, x):
        convs = iter(self.convs.children())
        for count in self.COUNTS:
            for _ in range(count):
                x = F.relu(next(convs)(x))
            x = F.max_pooling_2d(x, 2)
        return self.fc2(F.relu(self.fc1(x)))


class Bottleneck(chainer.Chain):
    """The residual block of ResNet50."""

    def __init__(self, before, middle, stride):
        super().__init__()
        after = 4 * middle
        self.projects = stride != 1 or before != after
        with self.init_scope():
            self.conv1, self.bn1 = pair(before, middle, 1, stride)
            self.conv2, self.bn2 = pair(middle, middle, 3)
            # Small at first: the network would otherwise amplify rounding a thousandfold.
            self.conv3, self.bn3 = pair(middle, after, 1, initial_gamma=0.2)
            if self.projects:
                self.conv4, self.bn4 = pair(before, after, 1, stride)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = self.bn3(self.conv3(h))
        return F.relu(h + (self.bn4(self.conv4(x)) if self.projects else x))


def pair(before, after, ksize, stride=1, **options):
    conv = L.Convolution2D(
        before, after, ksize, stride, ksize // 2, nobias=True, initialW=HeNormal()
    )
    return conv, L.BatchNormalization(after, dtype=chainer.config.dtype, **options)


class ResNet50(chainer.Chain):
    """The 50 layers of ResNet50, an eighth as wide."""

    def __init__(self, width=8, classes=10):
        super().__init__()
        blocks = []
        before = width
        for stage, count in enumerate((3, 4, 6, 3)):
            for i in range(count):
                stride = 2 if i == 0 and stage else 1
                blocks.append(Bottleneck(before, width * 2**stage, stride))
                before = 4 * width * 2**stage
        with self.init_scope():
            self.conv1, self.bn1 = pair(3, width, 7, 2)
            self.blocks = chainer.ChainList(*blocks)
            self.fc = L.Linear(before, classes)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for block in self.blocks.children():
            h = block(h)
        return self.fc(F.average_pooling_2d(h, h.shape[2:]))


class LanguageModel(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(50, 128)
            self.rnn = L.NStepLSTM(1, 128, 128, 0.0)
            self.cell = L.LSTM(128, 128)
            self.out = L.Linear(128, 50)

    def forward(self, words):
        _, _, ys = self.rnn(None, None, list(F.separate(self.embed(words), axis=0)))
        self.cell.reset_state()
        hs = [self.cell(h) for h in F.separate(F.stack(ys), axis=1)]
        return self.out(F.concat(hs, axis=0))
