"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

from capture import _case
from capture_nets import NETS

UNIT = "us"

CASES = {name + ", captured": _case(name) for name in NETS}
