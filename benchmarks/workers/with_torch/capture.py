"""Training steps with Adam, as written and captured; peers at their best settings"""

from __future__ import annotations

from bench_case import Case
from capture_nets import COMPILES, NETS, Training

UNIT = "us"


def _case(name, nets=NETS):
    def prepare():
        training = Training(name, nets)
        for _ in range(3):
            training()
        return Case([("", training)])

    return prepare


CASES = {}
for _name in NETS:
    # Compiling takes up to a minute: once is enough.
    for _row in (", captured on JAX",) if COMPILES else (", captured", ", captured on JAX"):
        CASES[_name + _row] = _case(_name)
