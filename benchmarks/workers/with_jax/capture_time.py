"""Time from the first call of a captured step to the first repetition; peers: to compile"""

from __future__ import annotations

import time

from bench_case import Case
from capture_nets import NETS, Training

UNIT = "s"
MEASURED = True


def _case(name):
    def prepare():
        def measure():
            training = Training(name)
            start = time.perf_counter()
            training()
            return time.perf_counter() - start

        return Case([("", measure)])

    return prepare


CASES = {name + ", captured on JAX": _case(name) for name in NETS}
