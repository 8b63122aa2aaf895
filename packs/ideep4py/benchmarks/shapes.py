"""Sizes that both libraries are measured with."""

from __future__ import annotations

CONVOLUTIONS = {
    # name: (x shape, W shape, stride, pad)
    "conv3x3_64_32px": ((64, 64, 32, 32), (64, 64, 3, 3), 1, 1),
    "conv3x3_3to64_32px": ((64, 3, 32, 32), (64, 3, 3, 3), 1, 1),
    "conv1x1_256to64_14px": ((32, 256, 14, 14), (64, 256, 1, 1), 1, 0),
    "conv3x3_512_4px": ((32, 512, 4, 4), (512, 512, 3, 3), 1, 1),
}
IMAGE = (64, 64, 32, 32)
MATRICES = {
    # name: (m, k, n)
    "linear_32x50x50": (32, 50, 50),
    "linear_100x784x1000": (100, 784, 1000),
    "linear_20x200x800": (20, 200, 800),
    "linear_700x200x10000": (700, 200, 10000),
}
SOFTMAX = (700, 10000)
ADAM = 1_800_000
LSTM = (35, 20, 200)  # steps, batch, units
