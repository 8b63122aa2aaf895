"""Table of functions: peak of the memory allocated in forward and backward together

Each row is the largest sum of the blocks that Python and NumPy had allocated at one time, according
to tracemalloc, while the function was applied and differentiated once more; inputs exist before. A
scalar loss is put on top of the outputs, as in training: its gradients for them are new arrays that
no other code holds. Peaks below 64 KiB count as 64 KiB, since there Python objects are compared.
"""

from __future__ import annotations

import gc
import tracemalloc

import bench_case
import chainer
import numpy as np
from bench_case import Case, Missing
from bench_chainer import variables
from functions import CASES as FUNCTIONS

UNIT = "kB"
MEASURED = True
#: Not 1: tracemalloc counts Python objects, too, some ten kilobytes, more in newer releases.
BUDGETS = {"upstream": 1.05}
MEAN_BUDGETS = {"upstream": 1.0}
LEAST = 64 * 1024


class Loss(chainer.FunctionNode):
    """Scalar on top of the outputs of a function, with the gradients that it is told to have."""

    def __init__(self, seeds):
        self.seeds = seeds

    def forward(self, ys):
        return (np.zeros((), np.float32),)

    def backward(self, indexes, gys):
        return tuple(chainer.Variable(self.seeds[i].copy()) for i in indexes)


def peak(operation):
    """Returns the preparation of the case that measures an operation of the function table."""

    def prepare():
        if bench_case.USE_IDEEP:
            raise Missing("tracemalloc does not see iDeep's own allocations")
        forward, inputs = operation.prepare()
        seeds = operation.seeds(variables(forward()))

        def run():
            if operation.gradient:
                Loss(seeds).apply(variables(forward()))[0].backward()
            else:
                forward()

        def step():
            for x in inputs:
                x.cleargrad()
            gc.collect()
            tracemalloc.start()
            try:
                run()
                return max(tracemalloc.get_traced_memory()[1], LEAST)
            finally:
                tracemalloc.stop()

        return Case([("", step)])

    return prepare


CASES = {name: peak(operation) for name, operation in FUNCTIONS.items()}
