"""Import in a fresh interpreter, with 0 and 100 other distributions installed (ten of them Chainer plugins)"""

from __future__ import annotations

from bench_import import cases

UNIT = "ms"
MEASURED = True
BUDGETS = {"numpy": 1.5}
CASES = cases("chainer")
