"""Training steps with Adam, as written and captured; peers at their best settings"""

from __future__ import annotations

from bench_case import Case
from capture_nets import NETS, Training

UNIT = "us"


def _case(name, nets=NETS):
    def prepare():
        training = Training(name, nets)
        training()
        return Case([("", training)])

    return prepare


CASES = {name + ", captured on JAX": _case(name) for name in NETS}
