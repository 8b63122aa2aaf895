"""Networks of the benchmark ``fast``, see the programs with Chainer."""

from __future__ import annotations

import capture_nets
import torch
from bench_torch import integers, random
from cnn import _model as cnn
from convnets import resnet50, vgg16
from step_rows import CLASSES, EDGES, PENALTY, UNET, UNITS, with_data
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, units=768, heads=12):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(units), nn.LayerNorm(units)
        self.qkv, self.out = nn.Linear(units, 3 * units), nn.Linear(units, units)
        self.inner, self.outer = nn.Linear(units, 4 * units), nn.Linear(4 * units, units)

    def forward(self, x, t):
        length, units = x.shape
        split = self.qkv(self.norm1(x)).view(1, length, 3, self.heads, units // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = x + self.out(mixed.transpose(1, 2).reshape(length, units))
        y = h + self.outer(nn.functional.gelu(self.inner(self.norm2(h)), approximate="tanh"))
        return nn.functional.mse_loss(y, t)


class GraphNetwork(nn.Module):
    def __init__(self, nodes=1000):
        super().__init__()
        self.register_buffer("edges", integers(nodes, 2, EDGES, seed=1))
        self.own = nn.ModuleList([nn.Linear(UNITS, UNITS) for _ in range(2)])
        self.sent = nn.ModuleList([nn.Linear(UNITS, UNITS) for _ in range(2)])
        self.out = nn.Linear(UNITS, CLASSES)

    def forward(self, x, t):
        for own, sent in zip(self.own, self.sent):
            messages = sent(x).index_select(0, self.edges[0])
            x = torch.relu(own(x).index_add(0, self.edges[1], messages))
        return nn.functional.cross_entropy(self.out(x), t)


def _convolutions(inputs, outputs):
    return nn.Sequential(
        *(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)),
        *(nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)),
        *(nn.BatchNorm2d(outputs), nn.ReLU()),
    )


class UNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        a, b, c = UNET
        self.down1, self.down2 = _convolutions(3, a), _convolutions(a, b)
        self.bottom = _convolutions(b, c)
        self.up2, self.merge2 = nn.ConvTranspose2d(c, b, 2, 2), _convolutions(2 * b, b)
        self.up1, self.merge1 = nn.ConvTranspose2d(b, a, 2, 2), _convolutions(2 * a, a)
        self.out = nn.Conv2d(a, classes, 1)

    def forward(self, x, t):
        first = self.down1(x)
        second = self.down2(nn.functional.max_pool2d(first, 2))
        h = self.bottom(nn.functional.max_pool2d(second, 2))
        h = self.merge2(torch.cat((self.up2(h), second), 1))
        h = self.merge1(torch.cat((self.up1(h), first), 1))
        return nn.functional.cross_entropy(self.out(h), t)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(
            *(nn.Conv2d(3, 16, 4, 2, 1), nn.LeakyReLU(0.2)),
            *(nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten()),
            nn.Linear(32 * 6 * 6, 1),
        )

    def forward(self, x, t):
        mixed = (0.5 * (x + t)).requires_grad_()
        (gradient,) = torch.autograd.grad(self.score(mixed).sum(), mixed, create_graph=True)
        penalty = ((gradient.square().sum((1, 2, 3)).sqrt() - 1) ** 2).mean()
        return self.score(t).mean() - self.score(x).mean() + PENALTY * penalty


class SteppedLanguageModel(nn.Module):
    """The program with Chainer: a cell, a linear layer and a loss for each of 35 words."""

    def __init__(self, cell, words=1000, units=200):
        super().__init__()
        self.embed = nn.Embedding(words, units)
        self.cell = cell(units, units)
        self.out = nn.Linear(units, words)

    def forward(self, x, t):
        state, loss = None, 0
        for i in range(len(x)):
            state = self.cell(self.embed(x[i]), state)
            y = state[0] if isinstance(state, tuple) else state
            loss = loss + nn.functional.cross_entropy(self.out(y), t[i])
        return loss


class Classifier(nn.Module):
    def __init__(self, predictor):
        super().__init__()
        self.predictor = predictor

    def forward(self, x, t):
        return nn.functional.cross_entropy(self.predictor(x), t)


_NETS = {
    "CNN 64 b64": lambda: Classifier(cnn()),
    "VGG16 b8": lambda: Classifier(vgg16(10)),
    "ResNet50 b8": lambda: Classifier(resnet50(100)),
    "GRU 35x20": lambda: capture_nets.LanguageModel(layer=nn.GRU),
    "NStepLSTM 35x20": capture_nets.LanguageModel,
    "GPT-2 layer 1x128": DecoderLayer,
    "graph network": GraphNetwork,
    "U-Net b4": UNet,
    "WGAN-GP b16": Critic,
}

NETS = {**capture_nets.NETS, **with_data(_NETS, random, integers)}

_STEPPED_NETS = {
    "LSTM 35x20": lambda: SteppedLanguageModel(nn.LSTMCell),
    "GRU 35x20": lambda: SteppedLanguageModel(nn.GRUCell),
}

#: Rows whose recurrent layers run step by step, as the programs with Chainer.
STEPPED_NETS = with_data(_STEPPED_NETS, random, integers)

#: Rows that ``torch.compile`` refuses: it does not differentiate gradients.
NOT_COMPILED = ("WGAN-GP b16",)
