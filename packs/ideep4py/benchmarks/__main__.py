"""``python -m benchmarks [--threads N] [--rounds N] [--peer MODULE] [NAME...]``: prints the peer's
time over ours.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent.parent


class Worker:
    """A running ``benchmarks.worker``."""

    def __init__(self, module: str, threads: int) -> None:
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", module, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_HERE,
            env=environment,
        )
        self.cases = self._read().split()[1:]

    def _read(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a benchmark process ended with status {self.process.wait()}")
        return line

    def time(self, case: str, seconds: float) -> float:
        """Shortest time of one call, in microseconds."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{case} {seconds}\n")
        self.process.stdin.flush()
        return float(self._read())

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main() -> None:
    """Runs the cases that both modules have, in turns, and prints a table."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="cases to run (parts of names); all by default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2, help="per case, library and round")
    parser.add_argument("--peer", default="benchmarks.with_torch")
    options = parser.parse_args()
    ours = Worker("benchmarks.with_ideep4py", options.threads)
    peer = Worker(options.peer, options.threads)
    ratios = []
    print(f"{options.threads} thread(s); microseconds, shortest of {options.rounds} rounds")
    print(f"{'case':32} {'peer':>10} {'ideep4py':>10} {'ratio':>7}")
    for case in [c for c in ours.cases if c in peer.cases]:
        if options.names and not any(n in case for n in options.names):
            continue
        best = {ours: float("inf"), peer: float("inf")}
        for _ in range(options.rounds):
            for worker in best:
                best[worker] = min(best[worker], worker.time(case, options.seconds))
        ratios.append(best[peer] / best[ours])
        print(f"{case:32} {best[peer]:10.1f} {best[ours]:10.1f} {ratios[-1]:7.2f}", flush=True)
    if ratios:
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    ours.close()
    peer.close()


if __name__ == "__main__":
    main()
