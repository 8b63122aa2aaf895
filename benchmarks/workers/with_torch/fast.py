"""Training steps with the one switch for speed, eager and captured; peers at their best settings"""

from __future__ import annotations

import os

from capture import _case
from capture_nets import COMPILES
from fast_nets import NETS, NOT_COMPILED, STEPPED_NETS

UNIT = "us"

#: Whether recurrent layers run step by step, as the programs with Chainer.
STEPS = os.environ.get("CHAINER_BENCH_STEPS") == "1"

CASES = {}
for _name in STEPPED_NETS if STEPS else NETS:
    if COMPILES and _name in NOT_COMPILED:
        continue
    if not COMPILES:
        CASES["eager: " + _name] = _case(_name, STEPPED_NETS if STEPS else NETS)
    # Compiling takes up to a minute: once is enough.
    if not STEPS:
        CASES["captured: " + _name] = _case(_name, NETS)
