"""Time from the first call of a captured step to the first repetition; peers: to compile"""

from __future__ import annotations

import time

import torch
from bench_case import Case
from capture_nets import COMPILES, NETS, Training

UNIT = "s"
MEASURED = True


def _case(name):
    def prepare():
        def measure():
            torch._dynamo.reset()
            torch._inductor.config.force_disable_caches = True
            training = Training(name)
            start = time.perf_counter()
            training()
            training.result()
            return time.perf_counter() - start

        return Case([("", measure)])

    return prepare


CASES = {name + ", captured on JAX": _case(name) for name in NETS} if COMPILES else {}
