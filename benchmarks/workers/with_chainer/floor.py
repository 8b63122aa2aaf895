"""How near rows of ``fast`` are to the bare products and exponentials that they need"""

from __future__ import annotations

from fast import CASES as _ALL

UNIT = "us"
BASE = "ours-fast"
PEERS = ["ours-fast", "torch", "numpy"]
THREADS = [1, 2]

#: The rows that have been behind their goal.
_NETS = ("LSTM 35x20", "GRU 35x20", "NStepLSTM 35x20", "LeNet b64")

CASES = {name: _ALL[name] for name in _ALL if name.partition(": ")[2] in _NETS}
