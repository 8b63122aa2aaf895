"""Prints how a framework fares in all traps, as JSON: ``python -m tests.capture_traps torch``."""

from __future__ import annotations

import importlib.metadata
import json
import sys

from .corpus import outcome, traps
from .frameworks import FRAMEWORKS


def main(name):
    found = {"version": importlib.metadata.version(name), "outcomes": []}
    for trap in traps():
        # Chainer finds some values by its audit only; the others have none.
        audited = {"audit": 1} if trap.audit and name == "chainer" else {}
        result, told = outcome(lambda captures, a=audited: FRAMEWORKS[name](captures, **a), trap)
        found["outcomes"].append([trap.theme, trap.name, trap.audit, result, told])
        print(f"{trap.theme:14} {trap.name:45} {result}  {told[:80]}", file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
