"""A long run of a MultiprocessIterator: shared memory, descriptors and memory stay constant.

Run ``python tests/robustness/soak.py --epochs 1000``.
"""

from __future__ import annotations

import argparse
import gc
import os

import numpy as np

import chainer


def _usage() -> tuple[int, int]:
    """Returns the number of open descriptors, and the memory in KiB."""
    with open("/proc/self/status", encoding="utf-8") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return len(os.listdir("/proc/self/fd")), resident


def run(epochs: int) -> tuple[list[tuple[int, int]], int]:
    """Iterates.

    Args:
        epochs: Number of epochs.

    Returns:
        tuple: Use of resources at ten moments, and the number of files in shared memory that are
        left at the end.
    """
    before = set(os.listdir("/dev/shm"))
    data = np.arange(200 * 32, dtype=np.float32).reshape(200, 32)
    iterator = chainer.iterators.MultiprocessIterator(data, 20, n_processes=2, n_prefetch=2)
    usage: list[tuple[int, int]] = []
    while iterator.epoch < epochs:
        batch = iterator.next()
        assert len(batch) == 20
        if iterator.is_new_epoch and iterator.epoch % max(epochs // 10, 1) == 0:
            gc.collect()
            usage.append(_usage())
    iterator.finalize()
    return usage, len(set(os.listdir("/dev/shm")) - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1000)
    usage, left = run(parser.parse_args().epochs)
    for numbers in usage:
        print(*numbers)
    growth = usage[-1][1] - usage[1][1]
    print(f"memory grew by {growth} KiB, {left} files of shared memory are left")
    descriptors = {numbers[0] for numbers in usage[1:]}
    # Ten MiB are what the allocator of Python may keep; a leak in each batch would be more.
    raise SystemExit(growth > 10_240 or left > 0 or max(descriptors) - min(descriptors) > 4)


if __name__ == "__main__":
    main()
