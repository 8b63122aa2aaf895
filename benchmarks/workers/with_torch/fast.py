"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

from capture import _case
from capture_nets import COMPILES, NETS

UNIT = "us"

CASES = {}
for _name in NETS:
    # Compiling takes up to a minute: once is enough.
    for _row in (", captured",) if COMPILES else (", eager", ", captured"):
        CASES[_name + _row] = _case(_name)
