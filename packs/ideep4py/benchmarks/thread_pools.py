"""How much NumPy's BLAS threads and oneDNN's OpenMP threads disturb each other when they take
turns.

``python -m benchmarks.thread_pools [THREADS]`` runs every arrangement in a process of its own and
prints the time of a NumPy product and a oneDNN convolution in turns, beside the sum of both alone.
A ratio far above 1 is the disturbance. The last arrangement is the one to use: products through
oneDNN.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ARRANGEMENTS = {
    # name: environment, keyword of measure()
    "both pools": ({}, "blas"),
    "OMP_WAIT_POLICY=passive": ({"OMP_WAIT_POLICY": "passive"}, "blas"),
    "GOMP_SPINCOUNT=0": ({"GOMP_SPINCOUNT": "0"}, "blas"),
    "OPENBLAS_NUM_THREADS=1": ({"OPENBLAS_NUM_THREADS": "1"}, "blas"),
    "limit_blas_threads()": ({}, "limited"),
    "product through oneDNN": ({}, "onednn"),
}


def _best(call: Callable[[], object], repeat: int = 200) -> float:
    for _ in range(5):
        call()
    best = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best.append(time.perf_counter() - start)
    best.sort()
    return (
        best[len(best) // 2] * 1e3
    )  # the median: the disturbance is in most calls, not in the best


def measure(kind: str, threads: int) -> None:
    """Prints milliseconds: both alone, then in turns."""
    import numpy as np

    import ideep4py
    from ideep4py import ops

    ideep4py.set_num_threads(threads)
    if kind == "limited":
        ideep4py.limit_blas_threads()
    random = np.random.default_rng(0)
    a = random.standard_normal((256, 256), dtype=np.float32)
    x = ideep4py.array(random.standard_normal((4, 32, 32, 32), dtype=np.float32))
    w = ideep4py.array(random.standard_normal((32, 32, 3, 3), dtype=np.float32))
    x = ops.convolution(x, w, pad=1)

    def product() -> object:
        return ops.matmul(a, a) if kind == "onednn" else a @ a

    def convolution() -> object:
        return ops.convolution(x, w, pad=1)

    alone = _best(product) + _best(convolution)
    print(alone, _best(lambda: (product(), convolution())))


def main() -> None:
    """Runs all arrangements."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1
    here = Path(__file__).parent.parent
    print(f"{threads} threads; median milliseconds")
    print(f"{'arrangement':28} {'alone':>8} {'in turns':>8} {'ratio':>6}")
    for name, (extra, kind) in ARRANGEMENTS.items():
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        command = f"from benchmarks.thread_pools import measure; measure({kind!r}, {threads})"
        output = subprocess.run(
            [sys.executable, "-c", command],
            cwd=here,
            env={**environment, **extra},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        alone, turns = map(float, output.split())
        print(f"{name:28} {alone:8.2f} {turns:8.2f} {turns / alone:6.2f}", flush=True)


if __name__ == "__main__":
    main()
