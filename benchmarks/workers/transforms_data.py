"""Sizes, weights and inputs of the programs ``transforms``. Python 3.7 compatible."""

from __future__ import annotations

import numpy as np

#: Layers of the network whose derivatives are computed.
SIZES = [10, 32, 32, 6]
#: Layers of the classifier whose gradients are computed for each sample.
MLP = [64, 128, 10]
#: Channels of the convolutions of the other classifier; images are 28 x 28.
CHANNELS = [1, 8, 16]
CLASSES = 10


def _random():
    return np.random.RandomState(0)


def weights(sizes):
    """Returns weights and biases, one after the other."""
    random = _random()
    found = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        found.append((random.randn(n_out, n_in) / n_in**0.5).astype("f"))
        found.append((random.randn(n_out) / 10).astype("f"))
    return found


def filters():
    """Returns weights and biases of two convolutions and a linear function."""
    random = _random()
    found = []
    for n_in, n_out in zip(CHANNELS[:-1], CHANNELS[1:]):
        found.append((random.randn(n_out, n_in, 3, 3) / (3 * n_in**0.5)).astype("f"))
        found.append((random.randn(n_out) / 10).astype("f"))
    n_in = CHANNELS[-1] * 49
    found.append((random.randn(CLASSES, n_in) / n_in**0.5).astype("f"))
    found.append((random.randn(CLASSES) / 10).astype("f"))
    return found


def points():
    """Returns a batch of inputs and a direction."""
    random = _random()
    return random.randn(64, SIZES[0]).astype("f"), random.randn(64, SIZES[0]).astype("f")


def samples(name):
    """Returns a batch of inputs of a classifier, and labels."""
    random = _random()
    shape = (64, MLP[0]) if name == "MLP" else (32, 1, 28, 28)
    return random.randn(*shape).astype("f"), random.randint(0, CLASSES, shape[0]).astype("i")
