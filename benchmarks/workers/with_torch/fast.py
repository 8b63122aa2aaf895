"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

from capture import _case
from capture_nets import COMPILES
from fast_nets import NETS, NOT_COMPILED

UNIT = "us"

CASES = {}
for _name in NETS:
    if COMPILES and _name in NOT_COMPILED:
        continue
    # Compiling takes up to a minute: once is enough.
    for _row in ("captured: ",) if COMPILES else ("eager: ", "captured: "):
        CASES[_row + _name] = _case(_name, NETS)
