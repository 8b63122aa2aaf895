"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

from capture import _case
from fast_nets import NETS

UNIT = "us"

CASES = {"captured: " + name: _case(name, NETS) for name in NETS}
