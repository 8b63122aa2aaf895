"""Updates of one parameter against loops in Numba without Chainer: what memory allows.

    python packs/numba/benchmarks/bare_loops.py
    python packs/numba/benchmarks/bare_loops.py --seconds 3

Both take turns. A bare loop reads and writes each array once, as fast as the memory of the machine
delivers it, so no implementation of the update can be much faster.
"""

from __future__ import annotations

import argparse
import time

import chainer
import numba
import numpy

f = numpy.float32
compiled = numba.njit(nogil=True, error_model="numpy", fastmath={"contract"})


@compiled
def sgd(p, g):
    for i in range(p.size):
        p[i] -= f(0.01) * g[i]


@compiled
def momentum_sgd(p, g, v):
    for i in range(p.size):
        v[i] = v[i] * f(0.9) - f(0.01) * g[i]
        p[i] += v[i]


@compiled
def adam(p, g, m, v):
    for i in range(p.size):
        m[i] += f(0.1) * (g[i] - m[i])
        v[i] += f(0.001) * (g[i] * g[i] - v[i])
        p[i] -= f(0.001) * (m[i] / (numpy.sqrt(v[i]) + f(1e-8)))


#: Optimizer, loop, and number of states.
UPDATES = {"SGD": (sgd, 0), "MomentumSGD": (momentum_sgd, 1), "Adam": (adam, 2)}


def update_of(name, size):
    """Returns a function that updates one parameter by an optimizer."""
    link = chainer.Link()
    with link.init_scope():
        link.p = chainer.Parameter(numpy.random.rand(size).astype(f))
    link.p.grad = numpy.random.rand(size).astype(f)
    return getattr(chainer.optimizers, name)().setup(link).update


def loop_of(name, size):
    """Returns a function that does the same to arrays of its own."""
    loop, states = UPDATES[name]
    arrays = [numpy.random.rand(size).astype(f) for _ in range(2 + states)]
    return lambda: loop(*arrays)


def smallest_times(functions, seconds):
    """Returns the smallest time of each function in milliseconds; they take turns."""
    best = [float("inf")] * len(functions)
    for function in functions:  # compiles, and makes the states
        function()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            for _ in range(5):  # the first call finds the arrays of the other function in the cache
                start = time.perf_counter()
                function()
                best[i] = min(best[i], time.perf_counter() - start)
    return [1000 * t for t in best]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    options = parser.parse_args()
    print("| update | bare loop, ms | this provider, ms | ratio |")
    print("|---|---:|---:|---:|")
    with chainer.using_config("kernels", ("numba",)):
        for size, text in ((1_800_000, "1.8 million"), (25_000_000, "25 million")):
            for name in UPDATES:
                # The provider first: it sets an option of LLVM that the loop needs, too.
                functions = [update_of(name, size), loop_of(name, size)]
                ours, bare = smallest_times(functions, options.seconds)
                print(f"| {name}, {text} | {bare:.2f} | {ours:.2f} | {bare / ours:.2f} |")


if __name__ == "__main__":
    main()
