"""y = tanh(y) + x on 4x4 float32, as often as the case says: cost of one operation

The cost should not depend on the length of the graph: Python's cyclic garbage collector, which is
on as in any program, must not visit the whole graph again and again. Each sample is the mean of as
many graphs as make up 20,000 steps (one, where a graph has more), and includes that the graph is
destroyed.
"""

from __future__ import annotations

import time

import chainer
import chainer.functions as F
import numpy as np
from bench_case import Case
from bench_chainer import random

UNIT = "us"
MEASURED = True
LENGTHS = (100, 1_000, 10_000, 100_000, 300_000)
BUDGETS = {"torch": {"{:,} steps forward and backward".format(n): 1.0 for n in LENGTHS}}
ROW_BUDGETS = [
    ["100,000 steps forward", "1,000 steps forward", 1.2],
    ["100,000 steps forward and backward", "1,000 steps forward and backward", 1.2],
]
STEPS_PER_SAMPLE = 20_000


def graphs(length):
    """Returns the preparation of the case with graphs of that many steps."""

    def prepare():
        x = chainer.Variable(random(4, 4))
        seed = np.ones((4, 4), np.float32)

        def forward():
            y = x
            for _ in range(length):
                y = F.tanh(y) + x
            return y

        def both():
            x.cleargrad()
            y = forward()
            y.grad = seed
            y.backward()

        return Case(
            [
                ("forward", lambda *_: seconds_per_operation(forward, length)),
                ("forward and backward", lambda *_: seconds_per_operation(both, length)),
            ],
            lambda: x.grad.ravel(),
        )

    return prepare


def seconds_per_operation(run, length):
    """Returns the time of a graph of that many steps, each of two operations, per operation."""
    repeats = max(1, STEPS_PER_SAMPLE // length)
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / (2 * length * repeats)


CASES = {"{:,} steps".format(length): graphs(length) for length in LENGTHS}
