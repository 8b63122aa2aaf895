"""Rows of the function table: the reference and this provider, taking turns in one process.

    python packs/numba/benchmarks/function_table.py          # sizes of ``benchmarks functions``
    python packs/numba/benchmarks/function_table.py --large  # arrays beyond the cache

Run it from the root of Chainer's repository, whose function table it reads. A row is printed if the
provider served it; a number above 1 means that the provider is faster. A phase that runs none of
the provider's code has a dash: there both are the same.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import chainer
import numpy as np
from chainer.kernel import Operation

WORKERS = Path(__file__).resolve().parents[3] / "benchmarks" / "workers"
sys.path[:0] = [str(WORKERS), str(WORKERS / "with_chainer")]

#: Functions of one array.
SIMPLE = [
    "relu",
    "leaky_relu",
    "sigmoid",
    "elu",
    "softplus",
    "hard_sigmoid",
    "crelu",
    "softmax",
    "log_softmax",
    "dropout",
    "sum",
]


def large_cases():
    """Returns cases whose arrays are larger than the caches of most processors."""
    from bench_chainer import integers, operation, random

    x, images = random(4096, 2048), random(64, 64, 56, 56)
    ones, zeros = np.ones(64, np.float32), np.zeros(64, np.float32)
    features = np.ones(2048, np.float32)
    cases = {name: operation(name, x) for name in SIMPLE}
    cases["clipped_relu"] = operation("clipped_relu", x, 1.0)
    cases["softmax images"] = operation("softmax", images)
    cases["softmax_cross_entropy"] = operation("softmax_cross_entropy", x, integers(2048, 4096))
    labels = integers(64, 64, 56, 56)
    cases["softmax_cross_entropy images"] = operation("softmax_cross_entropy", images, labels)
    cases["batch_normalization"] = operation("batch_normalization", x, features, features * 0)
    cases["batch_normalization images"] = operation("batch_normalization", images, ones, zeros)
    cases["layer_normalization"] = operation("layer_normalization", x, features, features * 0)
    cases["group_normalization"] = operation("group_normalization", images, 8, ones, zeros)
    cases["local_response_normalization"] = operation("local_response_normalization", images)
    cases["lstm"] = operation("lstm", random(2048, 512), random(2048, 2048))
    children = random(2048, 512), random(2048, 512)
    cases["slstm"] = operation("slstm", *children, random(2048, 2048), random(2048, 2048))
    cases["tree_lstm"] = operation("tree_lstm", *children, random(2048, 2560))
    statistics = [np.zeros(64, np.float32), np.ones(64, np.float32)]
    cases["batch_renormalization images"] = operation(
        "batch_renormalization",
        images,
        *(ones, zeros, 1.5, 0.5),
        running_mean=statistics[0],
        running_var=statistics[1],
    )
    corners = np.random.rand(200, 2).astype(np.float32) * 20
    regions = np.concatenate([corners, corners + 10], axis=1)
    where = regions, integers(64, 200), 7, 1.0, 2
    cases["roi_average_align_2d"] = operation("roi_average_align_2d", images, *where)
    cases["roi_max_align_2d"] = operation("roi_max_align_2d", images, *where)
    cases["embed_id"] = operation("embed_id", integers(50000, 128, 64), random(50000, 512))
    cases["scatter_add"] = operation("scatter_add", x, (integers(4096, 4096),), random(4096, 2048))
    cases["max_pooling_2d"] = operation("max_pooling_2d", images, 2)
    cases["max_pooling_2d overlapping"] = operation("max_pooling_2d", images, 3, 2)
    cases["average_pooling_2d"] = operation("average_pooling_2d", images, 2)
    cases["unpooling_2d"] = operation("unpooling_2d", images, 2, cover_all=False)
    cases["linear"] = operation("linear", random(64, 1024), random(4096, 1024), random(4096))
    words = random(20, 200), random(10000, 200), random(10000)
    cases["linear of few rows"] = operation("linear", *words)
    cases["im2col"] = operation("im2col", random(16, 32, 56, 56), 3, 1, 1)
    return cases


#: Modules of the provider that run in every call, also where the reference serves it.
CHOICE = {"supports", "pack"}


class Recorder:
    """Records which operations this provider serves, and whether its code ran."""

    def __init__(self):
        self.served = set()
        self.ran = False
        self._select = select = Operation.select

        def recording(operation, *arrays, **attributes):
            kernel = select(operation, *arrays, **attributes)
            if type(kernel).__module__.startswith("chainer_numba"):
                self.served.add(operation.name)
            return kernel

        self._recording = recording

    def __enter__(self):
        Operation.select = self._recording
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        Operation.select = self._select

    def _profile(self, frame, event, argument):
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("chainer_numba."):
            method = frame.f_code.co_name != "__init__"
            self.ran |= method and name.partition(".")[2] not in CHOICE


def call(case):
    """Runs the phases once; returns their times in seconds."""
    value, times = None, []
    for _, phase in case.phases:
        start = time.perf_counter()
        value = phase() if len(case.phases) == 1 else phase(value)
        times.append(time.perf_counter() - start)
    return times[:2]


def phases_served(case):
    """Returns the operations that were served, and for each phase whether it ran their code."""
    value, served, ran = None, set(), []
    for _, phase in case.phases:
        with Recorder() as recorder:
            value = phase() if len(case.phases) == 1 else phase(value)
        served |= recorder.served
        ran.append(recorder.ran)
    return served, ran[:2]


def measure(prepare, seconds):
    """Returns what :func:`phases_served` does, and the smallest times of both."""
    with chainer.using_config("kernels", ("numba",)):
        case = prepare()
        call(case)  # compiles
        served, ran = phases_served(case)
    if not any(ran):
        return served, ran, {}
    call(case)
    best = {}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(best) < 2:
        for kernels in ((), ("numba",)):
            with chainer.using_config("kernels", kernels):
                for _ in range(5):
                    times = call(case)
                    old = best.get(kernels, times)
                    best[kernels] = [min(a, b) for a, b in zip(old, times)]
    return served, ran, best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--large", action="store_true", help="arrays beyond the cache")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--case", default="", help="only rows whose name contains this")
    options = parser.parse_args()
    if options.large:
        cases = large_cases()
    else:
        from functions import CASES as cases
    logarithms = []
    print("| row | operations | forward | backward |")
    print("|---|---|---:|---:|")
    for name, prepare in cases.items():
        if options.case not in name:
            continue
        served, ran, best = measure(prepare, options.seconds)
        if not best:
            continue
        ratios = [a / b for a, b in zip(best[()], best[("numba",)])]
        logarithms += [math.log(ratio) for ratio, own in zip(ratios, ran) if own]
        numbers = " | ".join(f"{ratio:.2f}" if own else "-" for ratio, own in zip(ratios, ran))
        print(f"| {name} | {', '.join(sorted(served))} | {numbers} |", flush=True)
    if not logarithms:
        print("\nThe provider serves none of these rows.")
        return
    mean = math.exp(sum(logarithms) / len(logarithms))
    print(f"\ngeometric mean: {mean:.2f}, smallest: {math.exp(min(logarithms)):.2f}")


if __name__ == "__main__":
    main()
