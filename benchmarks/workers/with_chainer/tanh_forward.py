"""The loop of tanh_loop, forward only: cost of one operation"""

from __future__ import annotations

import chainer
from bench_chainer import random
from tanh_loop import PER_CALL, UNIT, _loop

__all__ = ["CASES", "PER_CALL", "UNIT"]


def forward():
    x = chainer.Variable(random(4, 4))

    def step():
        _loop(x)

    return step


def forward_without_graph():
    x = chainer.Variable(random(4, 4))

    def step():
        with chainer.no_backprop_mode():
            _loop(x)

    return step


CASES = {"with graph": forward, "without graph": forward_without_graph}
