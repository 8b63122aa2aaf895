"""y = tanh(y) + x on 4x4 float32, as often as the case says: cost of one operation"""

from __future__ import annotations

import time

import torch
from bench_case import Case
from bench_torch import random

UNIT = "us"
MEASURED = True
LENGTHS = (100, 1_000, 10_000, 100_000, 300_000)
STEPS_PER_SAMPLE = 20_000


def graphs(length):
    """Returns the preparation of the case with graphs of that many steps."""

    def prepare():
        x = random(4, 4).requires_grad_()
        seed = torch.ones(4, 4)

        def forward():
            y = x
            for _ in range(length):
                y = torch.tanh(y) + x
            return y

        def both():
            x.grad = None
            forward().backward(seed)

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
