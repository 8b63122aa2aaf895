"""Time from the first call of a captured step to the first repetition; peers: to compile"""

from __future__ import annotations

import time

from bench_case import Case, Missing
from capture import has_device
from capture_nets import NETS, Training

UNIT = "s"
MEASURED = True
PEERS = ["ours", "torch-compile", "jax"]


def _case(name, device):
    def prepare():
        if device != "@numpy" and not has_device(device):
            raise Missing("chainer-jax is not installed")

        def measure():
            training = Training(name, device)
            training.capture()
            start = time.perf_counter()
            for _ in range(4):
                training()
            training.result()
            return time.perf_counter() - start

        return Case([("", measure)])

    return prepare


CASES = {}
for _name in NETS:
    CASES[_name + ", captured"] = _case(_name, "@numpy")
    CASES[_name + ", captured on JAX"] = _case(_name, "@jax:0")
