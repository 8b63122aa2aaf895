"""Training steps with Adam, as written and captured; peers at their best settings"""

from __future__ import annotations

import chainer
from bench_case import Case, Missing
from capture_nets import NETS, Training

UNIT = "us"
PEERS = ["ours", "ours-numba", "torch", "torch-compile", "jax"]
THREADS = [1, 2]
ROW_BUDGETS = [
    ["MLP b32, captured", "MLP b32, as written", 0.50],
    ["LeNet b64, captured", "LeNet b64, as written", 0.97],
    ["LSTM 35x20, captured", "LSTM 35x20, as written", 0.97],
]
BUDGETS = {
    "torch": {"MLP b32, captured on JAX": 0.5, "MLP b32, captured": 1 / 1.9},
    "torch-compile": {"Transformer 16x32, captured on JAX": 1.0},
    "jax": {
        "MLP b32, captured on JAX": 1.05,
        "wide MLP b100, captured on JAX": 1.05,
        "LeNet b64, captured on JAX": 1.05,
        "LSTM 35x20, captured on JAX": 1.2,
    },
}

#: Calls until a step is recorded, compared with the step as written (on JAX up to three times), and
#: in use.
_CALLS_TO_CAPTURE = 6


def _case(name, device, captures):
    def prepare():
        if captures and not hasattr(chainer, "capture"):
            raise Missing("this release has no chainer.capture")
        if device != "@numpy" and not has_device(device):
            raise Missing("chainer-jax is not installed")
        training = Training(name, device)
        if captures:
            training.capture()
            for _ in range(_CALLS_TO_CAPTURE):
                training()
        return Case([("", training)], training.result)

    return prepare


def has_device(name):
    """Returns whether the environment has a device."""
    try:
        chainer.get_device(name)
    except (ImportError, RuntimeError, ValueError):
        return False
    return True


CASES = {}
for _name in NETS:
    CASES[_name + ", as written"] = _case(_name, "@numpy", False)
    CASES[_name + ", captured"] = _case(_name, "@numpy", True)
    CASES[_name + ", captured on JAX"] = _case(_name, "@jax:0", True)
