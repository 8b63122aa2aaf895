"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

from bench_case import Case
from capture import _CALLS_TO_CAPTURE
from capture_nets import Training
from fast_nets import NETS

UNIT = "us"
BASE = "ours-fast"
#: PyTorch runs the recurrent layers over whole sequences, and "torch-steps" step by step.
PEERS = ["ours", "ours-fast", "torch", "torch-steps", "torch-compile", "jax"]
#: Without the compilers, which take up to a minute for a row.
QUICK_PEERS = ["ours-fast", "torch"]
THREADS = [1, 2]
#: The goals: eager as fast as PyTorch on each row, captured ahead of the best peer.
BUDGETS = {"torch": {"eager": 1.0}, "torch-steps": {"eager": 1.0}, "best": {"captured": 1.0}}
MEAN_BUDGETS = {"best": {"captured": 1 / 1.2}}


def _case(name, captures):
    def prepare():
        training = Training(name, "@numpy", NETS)
        if captures:
            training.capture()
            for _ in range(_CALLS_TO_CAPTURE):
                training()
        return Case([("", training)], training.result)

    return prepare


CASES = {}
for _name in NETS:
    CASES["eager: " + _name] = _case(_name, False)
    CASES["captured: " + _name] = _case(_name, True)
