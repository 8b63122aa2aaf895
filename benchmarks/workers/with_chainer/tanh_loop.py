"""y = tanh(y) + x on 4x4 float32, 100 times: cost of one operation"""

from __future__ import annotations

import chainer
import chainer.functions as F
import numpy as np
from bench_case import Case
from bench_chainer import random

UNIT = "us"
LOOPS = 100
PER_CALL = 2 * LOOPS  # tanh and +
BUDGETS = {"torch": 1.0}


def _loop(x):
    y = x
    for _ in range(LOOPS):
        y = F.tanh(y) + x
    return y


def forward_backward():
    x = chainer.Variable(random(4, 4))
    seed = np.ones((4, 4), np.float32)

    def step():
        x.cleargrad()
        y = _loop(x)
        y.grad = seed
        y.backward()

    return Case([("", step)], lambda: x.grad.ravel())


CASES = {"forward and backward": forward_backward}
