"""Small operations, forward and backward: what an operation costs beside its kernel"""

from __future__ import annotations

from ours_on_gpu import integers, pick, random, repeated

import chainer
import chainer.functions as F
from chainer import Variable

UNIT = "us"
PER_CALL = pick(100, 2)
BUDGETS = {"torch": 1.5}


def chain(function, *shapes):
    """``y = function(y, ...)`` again and again, then one backward pass through all."""

    def prepare():
        x, *others = [Variable(random(*shape)) for shape in shapes]
        seed = random(*shapes[0])

        def step():
            y = x
            for _ in range(PER_CALL):
                y = function(y, *others)
            y.grad = seed
            x.cleargrad()
            for other in others:
                other.cleargrad()
            y.backward()

        return repeated(step, 1)

    return prepare


def loss():
    def prepare():
        x, t = Variable(random(8, 8)), integers(8, 8)

        def step():
            y = F.softmax_cross_entropy(x, t)
            x.cleargrad()
            y.backward()

        return repeated(step, PER_CALL)

    return prepare


def inference():
    def prepare():
        x, W, b = random(8, 8), random(8, 8), random(8)

        def step():
            with chainer.no_backprop_mode():
                F.relu(F.linear(x, W, b))

        return repeated(step, PER_CALL)

    return prepare


CASES = {
    "tanh": chain(F.tanh, (4, 4)),
    "relu": chain(F.relu, (4, 4)),
    "add": chain(lambda y, x: y + x, (4, 4), (4, 4)),
    "multiply": chain(lambda y, x: y * x, (4, 4), (4, 4)),
    "tanh and add": chain(lambda y, x: F.tanh(y) + x, (4, 4), (4, 4)),
    "reshape": chain(lambda y: F.reshape(F.reshape(y, (16,)), (4, 4)), (4, 4)),
    "softmax": chain(F.softmax, (4, 4)),
    "sum and broadcast": chain(
        lambda y: F.broadcast_to(F.sum(y, axis=1, keepdims=True), (4, 4)), (4, 4)
    ),
    "matmul": chain(F.matmul, (8, 8), (8, 8)),
    "linear": chain(F.linear, (8, 8), (8, 8), (8,)),
    "convolution 3x3": chain(
        lambda y, W, b: F.convolution_2d(y, W, b, pad=1), (2, 8, 8, 8), (8, 8, 3, 3), (8,)
    ),
    "batch normalization": chain(F.batch_normalization, (4, 8, 4, 4), (8,), (8,)),
    "max pooling": chain(lambda y: F.max_pooling_2d(y, 3, 1, 1, cover_all=False), (2, 8, 8, 8)),
    "softmax cross entropy": loss(),
    "linear and relu, no gradients": inference(),
}
