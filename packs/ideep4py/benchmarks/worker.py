"""A process that times the cases of one library on request.

Reads lines ``NAME SECONDS`` and answers with the shortest time of one call, in microseconds. Two
such processes take turns, so that both see the same noise, and neither's idle threads disturb the
other's.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable


def shortest(call: Callable[[], object], seconds: float) -> float:
    """Shortest time of a call within about ``seconds``, at least three calls, in microseconds."""
    best = float("inf")
    end = time.perf_counter() + seconds
    count = 0
    while count < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        count += 1
    return best * 1e6


def main() -> None:
    """Serves one module of cases: ``worker.py MODULE THREADS``."""
    module = importlib.import_module(sys.argv[1])
    module.set_threads(int(sys.argv[2]))
    cases: dict[str, Callable[[], Callable[[], object]]] = module.CASES
    made: dict[str, Callable[[], object]] = {}
    print("ready", *cases, flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        if name not in made:
            made.clear()  # one case's memory at a time
            made[name] = cases[name]()
            made[name]()
        print(shortest(made[name], float(seconds)), flush=True)


if __name__ == "__main__":
    main()
