"""Import in a fresh interpreter, also with 100 more distributions, or 100 plugins"""

from __future__ import annotations

from bench_import import cases

UNIT = "ms"
MEASURED = True
CASES = cases("torch")
