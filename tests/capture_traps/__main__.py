"""Prints how a framework fares in all traps: ``python -m tests.capture_traps torch``.

Each line is a JSON text: first the version and the traps, then the outcome of each trap. With a
number as a second argument, that many traps are left out.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys

from .corpus import outcome, traps
from .frameworks import FRAMEWORKS


def main(name, first=0):
    rows = [[trap.theme, trap.name, trap.audit] for trap in traps()]
    tell({"version": importlib.metadata.version(name), "traps": rows})
    for row, trap in list(zip(rows, traps()))[first:]:
        # Chainer finds some values by its audit only; the others have none.
        audited = {"audit": 1} if trap.audit and name == "chainer" else {}
        result, told = outcome(lambda captures, a=audited: FRAMEWORKS[name](captures, **a), trap)
        tell([*row, result, told])
        print(f"{trap.theme:14} {trap.name:45} {result}  {told[:80]}", file=sys.stderr, flush=True)


def tell(value):
    # Frameworks print, too: the word in front marks what is for the reader of this process.
    print("trap: " + json.dumps(value), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
