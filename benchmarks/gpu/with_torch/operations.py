"""Small operations, forward and backward: what an operation costs beside its kernel"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch_on_gpu import integers, pick, random, repeated

UNIT = "us"
PER_CALL = pick(100, 2)


def chain(function, *shapes):
    """``y = function(y, ...)`` again and again, then one backward pass through all."""

    def prepare():
        x, *others = [random(*shape).requires_grad_() for shape in shapes]
        seed = random(*shapes[0])

        def step():
            y = x
            for _ in range(PER_CALL):
                y = function(y, *others)
            x.grad = None
            for other in others:
                other.grad = None
            y.backward(seed)

        return repeated(step, 1)

    return prepare


def loss():
    def prepare():
        x, t = random(8, 8).requires_grad_(), integers(8, 8)

        def step():
            y = F.cross_entropy(x, t)
            x.grad = None
            y.backward()

        return repeated(step, PER_CALL)

    return prepare


def inference():
    def prepare():
        x, W, b = random(8, 8), random(8, 8), random(8)

        def step():
            with torch.no_grad():
                F.relu(F.linear(x, W, b))

        return repeated(step, PER_CALL)

    return prepare


CASES = {
    "tanh": chain(torch.tanh, (4, 4)),
    "relu": chain(torch.relu, (4, 4)),
    "add": chain(lambda y, x: y + x, (4, 4), (4, 4)),
    "multiply": chain(lambda y, x: y * x, (4, 4), (4, 4)),
    "tanh and add": chain(lambda y, x: torch.tanh(y) + x, (4, 4), (4, 4)),
    "reshape": chain(lambda y: y.reshape(16).reshape(4, 4), (4, 4)),
    "softmax": chain(lambda y: F.softmax(y, dim=1), (4, 4)),
    "sum and broadcast": chain(lambda y: y.sum(dim=1, keepdim=True).expand(4, 4), (4, 4)),
    "matmul": chain(torch.matmul, (8, 8), (8, 8)),
    "linear": chain(F.linear, (8, 8), (8, 8), (8,)),
    "convolution 3x3": chain(
        lambda y, W, b: F.conv2d(y, W, b, padding=1), (2, 8, 8, 8), (8, 8, 3, 3), (8,)
    ),
    "batch normalization": chain(
        lambda y, g, b: F.batch_norm(y, None, None, g, b, training=True), (4, 8, 4, 4), (8,), (8,)
    ),
    "max pooling": chain(lambda y: F.max_pool2d(y, 3, 1, 1), (2, 8, 8, 8)),
    "softmax cross entropy": loss(),
    "linear and relu, no gradients": inference(),
}
