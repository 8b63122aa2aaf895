"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

from bench_case import Case
from capture import _CALLS_TO_CAPTURE
from capture_nets import NETS, Training

UNIT = "us"
BASE = "ours-fast"
PEERS = ["ours", "ours-fast", "torch", "torch-compile", "jax"]
THREADS = [1, 2]
#: The goals: eager as fast as PyTorch on each row, captured ahead of the best peer.
BUDGETS = {
    "torch": {"": 1.0},
    "torch-compile": {"": 1.0},
    "jax": {"": 1.0},
}
MEAN_BUDGETS = {"torch": 1 / 1.2}


def _case(name, captures):
    def prepare():
        training = Training(name, "@numpy")
        if captures:
            training.capture()
            for _ in range(_CALLS_TO_CAPTURE):
                training()
        return Case([("", training)], training.result)

    return prepare


CASES = {}
for _name in NETS:
    CASES[_name + ", eager"] = _case(_name, False)
    CASES[_name + ", captured"] = _case(_name, True)
