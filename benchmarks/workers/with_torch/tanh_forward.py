"""The loop of tanh_loop, forward only: cost of one operation"""

from __future__ import annotations

import torch
from bench_torch import random
from tanh_loop import PER_CALL, UNIT, _loop

__all__ = ["CASES", "PER_CALL", "UNIT"]


def forward():
    x = random(4, 4).requires_grad_()

    def step():
        _loop(x)

    return step


def forward_without_graph():
    x = random(4, 4).requires_grad_()

    def step():
        with torch.no_grad():
            _loop(x)

    return step


CASES = {"with graph": forward, "without graph": forward_without_graph}
