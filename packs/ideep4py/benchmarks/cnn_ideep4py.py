"""One training step of a small convolutional network, made of ideep4py calls alone.

conv(3-64) bn relu, conv(64-64) bn relu pool, conv(64-64) bn relu pool, linear, softmax cross
entropy, SGD; images 32x32, batch 64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import ideep4py
from ideep4py import ops

LAYERS = ((3, False), (64, True), (64, True))  # input channels, pooling
LEARNING_RATE = 0.01


class Network:
    """The parameters, and one step on a batch."""

    def __init__(self, seed: int = 0) -> None:
        random = np.random.default_rng(seed)

        def normal(*shape: int, scale: float) -> ideep4py.mdarray:
            return ideep4py.array(random.standard_normal(shape, dtype=np.float32) * scale)

        self.convolutions = [
            (
                normal(64, c, 3, 3, scale=(2 / (9 * c)) ** 0.5),
                ideep4py.array(np.ones(64, np.float32)),
                ideep4py.array(np.zeros(64, np.float32)),
            )
            for c, _ in LAYERS
        ]
        self.W = normal(10, 64 * 8 * 8, scale=(1 / 4096) ** 0.5)
        self.b = ideep4py.array(np.zeros(10, np.float32))

    def step(self, x: ideep4py.mdarray, labels: np.ndarray) -> float:
        """Forward, backward and update; returns the loss."""
        saved = []
        for (W, gamma, beta), (_, pool) in zip(self.convolutions, LAYERS, strict=True):
            c = ops.convolution(x, W, pad=1)
            y, mean, var, mask = ops.batch_normalization(c, gamma, beta, relu=True)
            z, workspace = ops.pooling(y, "max", 2) if pool else (y, None)
            saved.append((x, c, mean, var, mask, y.layout, workspace))
            x = z
        h = ops.linear(x, self.W, self.b)
        loss, gh = cross_entropy(h, labels)
        gW, gb = ops.linear_backward_weights(x, gh, bias=True)
        g = ops.linear_backward_data(self.W, gh).reshape(x.shape)
        assert gb is not None
        updates = [(self.W, gW), (self.b, gb)]
        for i in reversed(range(len(saved))):
            x, c, mean, var, mask, layout, workspace = saved.pop()
            W, gamma, beta = self.convolutions[i]
            if workspace is not None:
                g = ops.pooling_backward(g, layout, "max", 2, workspace=workspace)
            g, ggamma, gbeta = ops.batch_normalization_backward(
                c, g, gamma, mean, var, workspace=mask
            )
            gw, _ = ops.convolution_backward_weights(x, g, W.shape, pad=1)
            updates += [(W, gw), (gamma, ggamma), (beta, gbeta)]
            if i:
                g = ops.convolution_backward_data(g, W, x.shape, pad=1)
        for parameter, gradient in updates:
            parameter.inplace_axpby(1.0, -LEARNING_RATE, gradient)
        return loss


def cross_entropy(h: ideep4py.mdarray, labels: np.ndarray) -> tuple[float, ideep4py.mdarray]:
    """Mean loss and its gradient by ``h``."""
    log_p = np.asarray(ops.log_softmax(h))
    rows = np.arange(len(labels))
    gradient = np.exp(log_p)
    gradient[rows, labels] -= 1
    gradient /= len(labels)
    return float(-log_p[rows, labels].mean()), ideep4py.array(gradient)


def batch(seed: int = 1) -> tuple[ideep4py.mdarray, np.ndarray]:
    """Images and labels."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((64, 3, 32, 32), dtype=np.float32)
    return ideep4py.array(x), random.integers(0, 10, 64)


def make() -> Callable[[], float]:
    """The benchmark case."""
    network = Network()
    x, labels = batch()
    return lambda: network.step(x, labels)
