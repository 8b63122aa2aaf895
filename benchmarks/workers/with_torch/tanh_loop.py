"""y = tanh(y) + x on 4x4 float32, 100 times: cost of one operation"""

from __future__ import annotations

import torch
from bench_case import Case
from bench_torch import random

UNIT = "us"
LOOPS = 100
PER_CALL = 2 * LOOPS


def _loop(x):
    y = x
    for _ in range(LOOPS):
        y = torch.tanh(y) + x
    return y


def forward_backward():
    x = random(4, 4).requires_grad_()
    seed = torch.ones(4, 4)

    def step():
        x.grad = None
        _loop(x).backward(seed)

    return Case([("", step)], lambda: x.grad.ravel())


CASES = {"forward and backward": forward_backward}
