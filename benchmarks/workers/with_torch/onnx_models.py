"""ResNet-50 and a decoder of the size of GPT-2 in PyTorch, eager, in inference mode"""

from __future__ import annotations

import torch
from bench_torch import integers, random
from torch import nn
from torch.nn import functional as F

UNIT = "ms"


class Bottleneck(nn.Module):
    """Residual block whose normalizations are folded into the convolutions."""

    def __init__(self, before, middle, stride, projects):
        super().__init__()
        self.a = nn.Conv2d(before, middle, 1)
        self.b = nn.Conv2d(middle, middle, 3, stride, 1)
        self.c = nn.Conv2d(middle, 4 * middle, 1)
        self.shortcut = nn.Conv2d(before, 4 * middle, 1, stride) if projects else nn.Identity()

    def forward(self, x):
        y = F.relu(self.a(x), inplace=True)
        y = self.c(F.relu(self.b(y), inplace=True))
        return F.relu(y + self.shortcut(x), inplace=True)


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    before = 64
    for stage, (middle, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for index in range(count):
            stride = 2 if index == 0 and stage > 0 else 1
            layers.append(Bottleneck(before, middle, stride, index == 0))
            before = 4 * middle
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000))


class Block(nn.Module):
    """Attention and two linear functions, each behind a normalization."""

    def __init__(self, units, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(units), nn.LayerNorm(units)
        self.q, self.k, self.v, self.out = (nn.Linear(units, units) for _ in range(4))
        self.up, self.down = nn.Linear(units, 4 * units), nn.Linear(4 * units, units)

    def forward(self, x):
        h = self.norm1(x)
        shape = (*h.shape[:2], self.heads, -1)
        q, k, v = (f(h).view(shape).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(h.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Decoder(nn.Module):
    def __init__(self, layers=12, heads=12, units=768, words=50257, tokens=64):
        super().__init__()
        self.words = nn.Embedding(words, units)
        self.places = nn.Parameter(torch.zeros(1, tokens, units))
        self.blocks = nn.Sequential(*[Block(units, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(units)

    def forward(self, x):
        h = self.blocks(self.words(x) + self.places)
        return F.linear(self.norm(h), self.words.weight)


def case(make, sample):
    def prepare():
        model, x = make().eval(), sample()

        def call():
            with torch.inference_mode():
                return model(x)

        # Weights differ from the other peers': outputs of two frameworks are not compared.
        return call

    return prepare


MODELS = {
    "ResNet-50": (resnet50, lambda: random(1, 3, 224, 224)),
    "GPT-2 size": (Decoder, lambda: integers(50257, 1, 64)),
}

CASES = {name: case(make, sample) for name, (make, sample) in MODELS.items()}
